import { type Command, Option } from 'commander'
import { addConnectionFlags, runSession } from './session.ts'
import type { StatusForm } from './status/run.ts'

interface Flags {
  allNamespaces?: boolean
  selector?: string
  watch?: boolean
  all?: boolean
  output?: StatusForm
}

/** `coxswain status`: one table of all workloads, those that need attention first. */
export function addStatusCommand(program: Command, release: string): void {
  const command = addConnectionFlags(
    program.command('status [names...]').description('one table of all workloads: KIND, KIND/NAME or nothing'),
  )
    .option('-A, --all-namespaces', 'of all namespaces')
    .option('-l, --selector <selector>', 'only those with these labels')
    .option('-w, --watch', 'draw it again whenever something changes')
    .option('--all', 'also those that another workload owns, such as the ReplicaSets of Deployments')
    .addOption(
      new Option('-o, --output <form>', 'how it is told (default: as a table)').choices(['json', 'yaml', 'name']),
    )
  command.action((names: string[]) =>
    runSession(command, release, async (session) => {
      const { allNamespaces = false, selector, watch = false, all = false, output } = command.opts<Flags>()
      const { runStatus } = await import('./status/run.ts')
      return runStatus(session, { args: names, allNamespaces, selector, watch, showOwned: all, form: output })
    }),
  )
}
