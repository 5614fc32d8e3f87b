import { type Command, Option } from 'commander'
import { addConnectionFlags, runSession } from '../session.ts'
import type { StatusForm } from './run.ts'

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
    program.command('status [names...]').description('show workloads in one table, those that need attention first'),
  )
    .option('-A, --all-namespaces', 'show the workloads of all namespaces')
    .option('-l, --selector <selector>', 'label selector, such as app=web')
    .option('-w, --watch', 'redraw the table whenever something changes')
    .option('--all', 'include workloads that another workload owns, such as ReplicaSets of Deployments')
    .addOption(new Option('-o, --output <form>', 'output format (default: table)').choices(['json', 'yaml', 'name']))
  command.action((names: string[]) =>
    runSession(command, release, async (session) => {
      const { allNamespaces = false, selector, watch = false, all = false, output } = command.opts<Flags>()
      const { runStatus } = await import('./run.ts')
      return runStatus(session, { args: names, allNamespaces, selector, watch, showOwned: all, form: output })
    }),
  )
}
