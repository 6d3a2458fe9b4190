import { expectFaults } from './faults.js';

expectFaults({});
