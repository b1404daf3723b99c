import { writeSync } from 'node:fs';

// Loaded into a run by NODE_OPTIONS: says on stderr when it begins to listen to signals and when it stops.
process.on('newListener', (event) => {
  if (event === 'SIGTERM') writeSync(2, '[listens]\n');
});
process.on('removeListener', (event) => {
  if (event === 'SIGTERM') writeSync(2, '[deaf]\n');
});
