import { type Command, Option } from 'commander'
import { addConnectionFlags, runSession } from '../session.ts'
import type { DocumentForm } from '../terminal/document.ts'

/** `coxswain why`: what a workload waits for, which pod, since when, and what would help. */
export function addWhyCommand(program: Command, release: string): void {
  const command = addConnectionFlags(
    program
      .command('why <names...>')
      .description('explain what a workload or a pod waits for, which pod, since when, and what would help'),
  )
    .addOption(new Option('-o, --output <form>', 'output format (default: text)').choices(['json', 'yaml']))
    .addHelpText(
      'after',
      '\nExit codes: 0 available or complete; 2 waiting; 3 a failure that does not end by itself; 1 an error.',
    )
  command.action((names: string[]) =>
    runSession(command, release, async (session) => {
      const { runWhy } = await import('./run.ts')
      return runWhy(session, names, command.opts<{ output?: DocumentForm }>().output)
    }),
  )
}
