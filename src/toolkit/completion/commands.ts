/** `viewmesh completion`: what makes a shell complete commands, flags and names of Views. */
import { Argument, type Command } from 'commander'
import type { Terminal } from '../cli/terminal.ts'
import { completeCommand } from '../toolkit-commands.ts'
import { completionCandidates } from './candidates.ts'
import { completionScripts, type Shell } from './scripts.ts'

const shells = Object.keys(completionScripts) as Shell[]

/** Adds them; `program` is the tree that is completed. */
export function addCompletionCommands(
  completion: Command,
  program: Command,
  terminal: Terminal,
): void {
  completion
    .addArgument(new Argument('<shell>', 'whose').choices(shells))
    .addHelpText(
      'after',
      `
bash:  source <(viewmesh completion bash)             in ~/.bashrc
zsh:   source <(viewmesh completion zsh)              in ~/.zshrc, after compinit
fish:  viewmesh completion fish | source              in ~/.config/fish/config.fish`,
    )
    .action((shell: Shell) => void terminal.stdout.write(completionScripts[shell]))
  program
    .command(completeCommand, { hidden: true })
    .argument('[words...]')
    .helpOption(false)
    .allowUnknownOption()
    .passThroughOptions()
    .action(async (words: readonly string[]) => {
      const found = await completionCandidates(program, terminal, words)
      if (found.length > 0) terminal.stdout.write(`${found.join('\n')}\n`)
    })
}
