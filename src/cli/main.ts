import { Command, CommanderError } from 'commander'
import { addApiServerCommand } from './apiserver.ts'
import { addControllersCommand } from './controllers.ts'
import { addFaultCommand } from './fault.ts'
import { addMonitorCommand } from './monitor.ts'
import { addNodeCommand } from './node.ts'
import { addSchedulerCommand } from './scheduler.ts'
import { addSloCommand } from './slo.ts'
import { addUpCommand } from './up.ts'

/** Ours, put in at build time. */
declare const RELEASE: string

const program = new Command('coxswain')
  .description('A Kubernetes-compatible workload control plane in one process')
  .version(RELEASE)
  .exitOverride()
  .configureOutput({ outputError: (text, write) => write(`coxswain: ${text.replace(/^error: /, '').trim().replaceAll(/\s*\n\s*/g, ' ')}\n`) })

addUpCommand(program, RELEASE)
addApiServerCommand(program, RELEASE)
addControllersCommand(program, RELEASE)
addSchedulerCommand(program, RELEASE)
addNodeCommand(program, RELEASE)
addMonitorCommand(program, RELEASE)
addFaultCommand(program, RELEASE)
addSloCommand(program, RELEASE)

try {
  await program.parseAsync()
} catch (e) {
  // Commander has said what is wrong already; all else is said in one line.
  if (!(e instanceof CommanderError)) console.error(`coxswain: ${e instanceof Error ? e.message : String(e)}`)
  process.exit(e instanceof CommanderError ? e.exitCode : 1)
}
