/** Situations of which it is known what a person must be told. test/fixtures/cases/README.md describes them. */

import { describeVerdicts } from '../support/jobs/recorded_verdicts.js';

describeVerdicts('cases', {
  queues: {
    kind: 'hung',
    hungAfter: 2,
    culprits: [1],
    says: [/^HUNG {2}Recv on world/, /other side: +rank 1 .*alive/, /only wait: +AllReduce seq 3/],
  },
  'dead-node': {
    kind: 'hung',
    culprits: [1],
    says: [/^HUNG {2}AllReduce seq 764 on world/, /no heartbeat: +rank 1 /, /not finished: +rank 0$/],
  },
});
