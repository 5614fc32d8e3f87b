import { Argument, type Command } from 'commander'
import type { Shell } from './scripts.ts'

/** `coxswain completion`: prints the shell script that completes commands, flags, kinds and names. */
export function addCompletionCommand(program: Command): void {
  program
    .command('completion')
    .description('print the shell script that completes commands, flags, kinds and names')
    .addArgument(new Argument('<shell>', 'the shell').choices(['bash', 'zsh', 'fish']))
    .action(async (shell: Shell) => {
      const { completionScripts } = await import('./scripts.ts')
      process.stdout.write(completionScripts[shell])
    })
}

/** The hidden command by which shells, and kubectl for its plugins, request completions. */
export const completeWord = '__complete'

/** Prints completions of the last word of a command line. */
export async function completeCommandLine(program: Command, words: readonly string[]): Promise<void> {
  const { clusterNames, protocolText, suggestionsFor } = await import('./complete.ts')
  process.stdout.write(protocolText(await suggestionsFor(program, words, clusterNames)))
}
