import { type Command, Option } from 'commander'
import { addConnectionFlags, runSession } from './session.ts'
import type { DocumentForm } from './terminal/document.ts'

/** `coxswain why`: what a workload waits for, which pod, since when, and what would help. */
export function addWhyCommand(program: Command, release: string): void {
  const command = addConnectionFlags(
    program.command('why <names...>').description('what a workload or a pod waits for: KIND/NAME or KIND NAME'),
  )
    .addOption(new Option('-o, --output <form>', 'how it is told (default: as text)').choices(['json', 'yaml']))
    .addHelpText('after', '\nExit codes: 0 all is well, 2 it waits, 3 it is in trouble, 1 it could not be read.')
  command.action((names: string[]) =>
    runSession(command, release, async (session) => {
      const { runWhy } = await import('./why/run.ts')
      return runWhy(session, names, command.opts<{ output?: DocumentForm }>().output)
    }),
  )
}
