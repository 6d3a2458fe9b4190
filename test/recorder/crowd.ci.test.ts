import { expectCrowd } from './crowd.js';
import { SANITIZER } from './programs.js';

expectCrowd(SANITIZER === '' ? 1 : 4);
