import path from 'node:path';
import { textArgument } from '../arguments.ts';
import type { Builtin, BuiltinGroup } from '../builtin.ts';
import type { Context } from '../context.ts';
import { dictGet, dictHas, dictKeys, dictRemove, dictSet } from '../dict.ts';
import { readJsonFile, writeJsonFile } from '../json-file.ts';
import { Dict, type Value } from '../value.ts';

type FileOf = (context: Context) => string;

const storeFile: FileOf = ({ run }) => path.join(run.stateRoot, 'store.json');

/** Checkpoints belong to one script, so that two scripts may use the same names. */
const checkpointFile: FileOf = ({ run }) => path.join(run.stateRoot, 'checkpoints', `${path.parse(run.scriptPath).name}.json`);

/** Values that outlive the run (spec/language.md 12.14). */
export const PERSISTENCE: BuiltinGroup = {
  name: 'persistence',
  title: 'Store and checkpoints',
  errors: [
    { text: 'Failed to write file P: DETAIL', when: 'the state folder cannot be written' },
    { text: 'JSON parse error: DETAIL', when: 'somebody else has written something into the file' },
  ],
  builtins: {
    store_get: reading('The value under a key of the store of the project; nil when there is none.', storeFile),
    store_set: writing(
      'Puts a value into `store.json` of the state folder, which is `.harn` of the project or what HARN_STATE_DIR says.',
      storeFile,
    ),
    store_delete: deleting('Removes a key from the store.', storeFile),
    store_list: listing('The keys of the store, sorted.', storeFile),
    store_clear: clearing('Removes all keys from the store.', storeFile),
    store_save: {
      signature: '() -> nil',
      doc: 'Every change of the store is saved at once; this makes sure that the file exists.',
      call: (c) => writeJsonFile(c, storeFile(c), readJsonFile(c, storeFile(c))),
    },
    checkpoint: writing('Keeps a value under a name for later runs of this script.', checkpointFile),
    checkpoint_get: reading('The value kept under a name; nil when there is none.', checkpointFile),
    checkpoint_exists: {
      signature: '(key: any) -> bool',
      doc: 'True when something, be it nil, is kept under a name.',
      call: (c, _d, key) => dictHas(readJsonFile(c, checkpointFile(c)), textArgument(key)),
    },
    checkpoint_list: listing('The names of all checkpoints, sorted.', checkpointFile),
    checkpoint_delete: deleting('Removes a checkpoint.', checkpointFile),
    checkpoint_clear: clearing('Removes all checkpoints of this script.', checkpointFile),
  },
};

function reading(doc: string, fileOf: FileOf): Builtin {
  return { signature: '(key: any) -> any', doc, call: (c, _d, key) => dictGet(readJsonFile(c, fileOf(c)), textArgument(key)) };
}

function listing(doc: string, fileOf: FileOf): Builtin {
  return { signature: '() -> list<string>', doc, call: (c) => dictKeys(readJsonFile(c, fileOf(c))) };
}

function writing(doc: string, fileOf: FileOf): Builtin {
  return {
    signature: '(key: any, value: any) -> nil',
    doc,
    call: (c, _d, key, value: Value) => writeJsonFile(c, fileOf(c), dictSet(readJsonFile(c, fileOf(c)), textArgument(key), value)),
  };
}

function deleting(doc: string, fileOf: FileOf): Builtin {
  return {
    signature: '(key: any) -> nil',
    doc,
    call: (c, _d, key) => {
      const entries = readJsonFile(c, fileOf(c));
      if (dictHas(entries, textArgument(key))) writeJsonFile(c, fileOf(c), dictRemove(entries, textArgument(key)));
    },
  };
}

function clearing(doc: string, fileOf: FileOf): Builtin {
  return {
    signature: '() -> nil',
    doc,
    call: (c) => {
      if (dictKeys(readJsonFile(c, fileOf(c))).length > 0) writeJsonFile(c, fileOf(c), new Dict());
    },
  };
}
