import path from 'node:path'
import { Command, CommanderError } from 'commander'
import { addApiServerCommand } from './apiserver.ts'
import { addCompletionCommand, completeCommandLine, completeWord } from './completion.ts'
import { addControllersCommand } from './controllers.ts'
import { addFaultCommand } from './fault.ts'
import { addMonitorCommand } from './monitor.ts'
import { addNodeCommand } from './node.ts'
import { addRolloutCommand } from './rollout.ts'
import { addSchedulerCommand } from './scheduler.ts'
import { addSloCommand } from './slo.ts'
import { addStatusCommand } from './status.ts'
import { addTopCommand } from './top.ts'
import { addUpCommand } from './up.ts'
import { addWaitCommand } from './wait.ts'
import { addWhyCommand } from './why.ts'

/** Ours, put in at build time. */
declare const RELEASE: string

/** As a plug-in of kubectl it is called by another name, and says so in its help. */
const isPlugin = path.basename(process.argv[1] ?? '').startsWith('kubectl')

const program = new Command(isPlugin ? 'kubectl coxswain' : 'coxswain')
  .description('A Kubernetes-compatible workload control plane in one process')
  .version(RELEASE)
  .exitOverride()
  .configureOutput({ outputError: (text, write) => write(`coxswain: ${text.replace(/^error: /, '').trim().replaceAll(/\s*\n\s*/g, ' ')}\n`) })

program.commandsGroup('Workloads of a cluster:')
addStatusCommand(program, RELEASE)
addWhyCommand(program, RELEASE)
addWaitCommand(program, RELEASE)
addRolloutCommand(program, RELEASE)

program.commandsGroup('A control plane, or a part of it:')
addUpCommand(program, RELEASE)
addApiServerCommand(program, RELEASE)
addControllersCommand(program, RELEASE)
addSchedulerCommand(program, RELEASE)
addNodeCommand(program, RELEASE)
addMonitorCommand(program, RELEASE)

program.commandsGroup('Other commands:')
addTopCommand(program, RELEASE)
addSloCommand(program, RELEASE)
addFaultCommand(program, RELEASE)
addCompletionCommand(program)

try {
  if (process.argv[2] === completeWord) await completeCommandLine(program, process.argv.slice(3))
  else await program.parseAsync()
} catch (e) {
  // Commander has said what is wrong already; all else is said in one line.
  if (!(e instanceof CommanderError)) console.error(`coxswain: ${e instanceof Error ? e.message : String(e)}`)
  process.exit(e instanceof CommanderError ? e.exitCode : 1)
}
