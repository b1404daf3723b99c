import { posix as path } from 'node:path';
import { optionsArgument, textArgument } from '../arguments.ts';
import { assetPath } from '../asset-path.ts';
import type { Builtin, BuiltinGroup } from '../builtin.ts';
import type { Run } from '../context.ts';
import { dictOf } from '../dict.ts';
import { orThrow } from '../file-errors.ts';
import { renderTemplate, type TemplateFiles, type TemplateSource } from '../template/template.ts';
import type { Value } from '../value.ts';

function templateFiles(run: Run): TemplateFiles {
  return {
    resolve: (given, directory) => assetPath(run, given, directory),
    read: (absolute) => run.platform.files.readText(absolute),
    directoryOf: (absolute) => path.dirname(absolute),
  };
}

function readTemplate(run: Run, given: Value, directory: string): TemplateSource & { readonly path: string } {
  const name = textArgument(given);
  const absolute = assetPath(run, name, directory);
  const text = orThrow(`Failed to read template ${name}`, () => run.platform.files.readText(absolute));
  return { name, text, directory: path.dirname(absolute), path: absolute };
}

function renderFile(doc: string): Builtin {
  return {
    signature: '(path: any, bindings: any = nil) -> string',
    doc,
    forModule: (module) => (c, _d, given, bindings) =>
      renderTemplate(readTemplate(c.run, given, module.directory), optionsArgument(bindings), templateFiles(c.run)),
  };
}

/** Templates (spec/language.md 12.7). */
export const TEMPLATES: BuiltinGroup = {
  name: 'templates',
  title: 'Templates',
  errors: [
    { text: 'Failed to read template P: DETAIL', when: '`render`, `render_prompt`, `render_with_provenance`' },
    { text: 'P at L:C: MESSAGE', when: 'a template that cannot be read or filled in; `at L:C: MESSAGE` for `render_string`' },
    { text: 'P at L:C: circular include detected: A → …', when: 'includes in a circle' },
  ],
  builtins: {
    render: renderFile('Fills in a template file. Relative paths start at the directory of the calling file.'),
    render_prompt: renderFile('Fills in a prompt file, as render does.'),
    render_string: {
      signature: '(template: any, bindings: any = nil) -> string',
      doc: 'Fills in a template given as text. Includes start at the directory of the calling file.',
      forModule: (module) => (c, _d, template, bindings) =>
        renderTemplate(
          { name: '', text: textArgument(template), directory: module.directory },
          optionsArgument(bindings),
          templateFiles(c.run),
        ),
    },
    render_with_provenance: {
      signature: '(path: any, bindings: any = nil) -> dict',
      doc: 'Fills in a template file and says where it came from: `{text, template_uri}`.',
      forModule: (module) => (c, _d, given, bindings) => {
        const source = readTemplate(c.run, given, module.directory);
        return dictOf([
          ['text', renderTemplate(source, optionsArgument(bindings), templateFiles(c.run))],
          ['template_uri', source.path],
        ]);
      },
    },
  },
};
