// Preloaded into a process of harn: leaves what it loaded at its end in the file that LOADED names, as `{ packs, modules }`.
const { writeFileSync } = require('node:fs');
const vm = require('node:vm');

const before = new Set(process.moduleLoadList);
const packs = [];
vm.Script = class extends vm.Script {
  constructor(text, options) {
    super(text, options);
    if (options?.filename?.startsWith('harn:') === true) packs.push(options.filename.slice('harn:'.length, -'.cjs'.length));
  }
};
process.on('exit', () => {
  const modules = process.moduleLoadList
    .filter((entry) => !before.has(entry) && /^NativeModule (?!internal\/)/.test(entry))
    .map((entry) => entry.slice('NativeModule '.length));
  writeFileSync(process.env.LOADED, JSON.stringify({ packs, modules }));
});
