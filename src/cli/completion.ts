/** A command as far as a shell has to know it. */
export interface CommandShape {
  readonly name: string;
  readonly description: string;
  readonly options: readonly { readonly flag: string; readonly description: string }[];
  readonly subcommands: readonly CommandShape[];
  /** What its words are, beside options. */
  readonly words: 'files' | 'workers' | 'codes' | 'shells' | 'none';
}

export const SHELLS = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof SHELLS)[number];

export function isShell(name: string): name is Shell {
  return SHELLS.some((shell) => shell === name);
}

/** A script for a shell that completes commands, options, files, ids of workers and codes of errors. */
export function completionScript(shell: Shell, commands: readonly CommandShape[]): string {
  switch (shell) {
    case 'bash':
      return `# source <(harn completion bash)\n${bashScript(commands)}`;
    case 'zsh':
      return `#compdef harn\n# source <(harn completion zsh)\nautoload -Uz compinit bashcompinit && compinit && bashcompinit\n${bashScript(commands)}`;
    case 'fish':
      return `# harn completion fish | source\n${fishLines(commands).join('\n')}\n`;
  }
}

/** Shell code that prints what may stand there; nothing for files, which shells know best themselves. */
const WORD_SOURCES: Readonly<Record<CommandShape['words'], string | undefined>> = {
  files: undefined,
  none: undefined,
  // Bash expands what it is given: nothing but the letters of an id may get there.
  workers: "harn workers list --all 2>/dev/null | awk 'NR > 1 && $1 ~ /^[A-Za-z0-9._-]+$/ { print $1 }'",
  codes: "harn explain | awk '{ print $1 }'",
  shells: `echo ${SHELLS.join(' ')}`,
};

/** One case for each command, by the words that name it. Without a match bash completes files. */
function bashScript(commands: readonly CommandShape[]): string {
  const groups = commands.filter(({ subcommands }) => subcommands.length > 0);
  const cases = [
    bashCase('', `${commands.map(({ name }) => name).join(' ')} --help --version`),
    ...commands.map((command) => commandCase(command.name, command)),
    ...groups.flatMap((group) => group.subcommands.map((command) => commandCase(`${group.name} ${command.name}`, command))),
  ];
  return `_harn() {
  local cur="\${COMP_WORDS[COMP_CWORD]}" key="" words=""
  [ "$COMP_CWORD" -gt 1 ] && key="\${COMP_WORDS[1]}"
  case "$key" in ${groups.map(({ name }) => name).join('|')}) [ "$COMP_CWORD" -gt 2 ] && key="$key \${COMP_WORDS[2]}" ;; esac
  case "$key" in
${cases.join('\n')}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$cur"))
}
complete -o bashdefault -o default -F _harn harn
`;
}

function commandCase(key: string, { options, subcommands, words }: CommandShape): string {
  const flags = [...options.map(({ flag }) => flag), '--help'].join(' ');
  const source = WORD_SOURCES[words];
  const inner = subcommands.map(({ name }) => `${name} `).join('');
  return bashCase(key, `${inner}${source === undefined ? '' : `$(${source}) `}${flags}`);
}

function bashCase(key: string, words: string): string {
  return `    ${JSON.stringify(key)}) words="${words}" ;;`;
}

function fishLines(commands: readonly CommandShape[]): string[] {
  return commands.flatMap((command) => {
    const inner = command.subcommands.map(({ name }) => name).join(' ');
    const isIn = `__fish_seen_subcommand_from ${command.name}`;
    return [
      fishWord('__fish_use_subcommand', command),
      ...(inner === '' ? fishOptions(isIn, command) : []),
      ...command.subcommands.flatMap((subcommand) => [
        fishWord(`${isIn}; and not __fish_seen_subcommand_from ${inner}`, subcommand),
        ...fishOptions(`${isIn}; and __fish_seen_subcommand_from ${subcommand.name}`, subcommand),
      ]),
    ];
  });
}

function fishWord(condition: string, { name, description }: CommandShape): string {
  return `complete -c harn -f -n '${condition}' -a ${name} -d ${fishText(description)}`;
}

function fishOptions(condition: string, { options, words }: CommandShape): string[] {
  const source = WORD_SOURCES[words];
  return [
    ...options.map(({ flag, description }) => {
      const form = flag.startsWith('--') ? `-l ${flag.slice(2)}` : `-s ${flag.slice(1)}`;
      return `complete -c harn -n '${condition}' ${form} -d ${fishText(description)}`;
    }),
    ...(source === undefined ? [] : [`complete -c harn -f -n '${condition}' -a ${fishText(`(${source})`)}`]),
  ];
}

function fishText(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", String.raw`\'`)}'`;
}
