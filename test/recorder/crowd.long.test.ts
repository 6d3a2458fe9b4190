import { expectCrowd } from './crowd.js';

expectCrowd(4);
