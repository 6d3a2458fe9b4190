import { test } from 'vitest';
import { expectFaults, passesCase } from './faults.js';

expectFaults({
  'folder-deleted': 2,
  'single-core': 5,
  'many-threads': 25,
  'many-communicators': 5,
  'stuck-peer': 120,
});

// Figures, not judged: the copies are made every 2 s, a survivor looks every second.
test(
  'how soon rings are saved',
  (context) => passesCase(['saved_rings', 'how-soon'], context, { 'how-soon': 60 }),
  1_200_000,
);
