#!/usr/bin/env node

// As little as possible before the real program: plain CommonJS, one bundle, V8's code cache beside it.
const { readFileSync } = require('node:fs');
const { join } = require('node:path');

const argv = process.argv.slice(2);
if (argv.length === 1 && (argv[0] === '--version' || argv[0] === '-V')) {
  process.stdout.write(`${require('../package.json').version}\n`);
} else {
  start();
}

function start() {
  const { Script } = require('node:vm');
  const file = join(__dirname, '../dist/harn.cjs');
  const script = new Script(readFileSync(file, 'latin1'), { filename: file, cachedData: codeCache(), importModuleDynamically: undefined });
  const bundle = { exports: {} };
  script.runInThisContext()(bundle.exports, require, bundle, file, join(__dirname, '../dist'));
  bundle.exports.main(argv).then(
    (code) => process.exit(code),
    (error) => {
      process.stderr.write(`harn: internal error; please report it with this text:\n${error?.stack ?? error}\n`);
      process.exit(70);
    },
  );
}

/** Made by the build with the Node it ran on; another Node refuses it and compiles from the text. */
function codeCache() {
  try {
    return readFileSync(join(__dirname, '../dist/harn.cache'));
  } catch {
    return undefined;
  }
}
