import { Command } from 'commander'
import { addApiServerCommand } from './apiserver.ts'
import { addBackupCommands } from './backup.ts'
import { addCompletionCommand } from './completion.ts'
import { addControllersCommand } from './controllers.ts'
import { addDashboardCommand } from './dashboard.ts'
import { addResetCommand, addStopCommand } from './data-directory.ts'
import { addDoctorCommand } from './doctor.ts'
import { addFaultCommand } from './fault.ts'
import { addGenerateCommand } from './generate.ts'
import { addManifestsCommand } from './manifests.ts'
import { addMonitorCommand } from './monitor.ts'
import { addNodeCommand } from './node.ts'
import { addPublishCommand } from './publish.ts'
import { addRolloutCommand } from './rollout.ts'
import { addSchedulerCommand } from './scheduler.ts'
import { addSloCommand } from './slo.ts'
import { addStatusCommand } from './status.ts'
import { addTokenCommand } from './token.ts'
import { addTopCommand } from './top.ts'
import { addUpCommand } from './up.ts'
import { addVersionCommand } from './version.ts'
import { addWaitCommand } from './wait.ts'
import { addWhyCommand } from './why.ts'

const oneLine = (text: string): string =>
  text
    .replace(/^error: /, '')
    .trim()
    .replaceAll(/\s*\n\s*/g, ' ')

/** Returns the command line with all commands. */
export function makeProgram(name: string, release: string): Command {
  const program = new Command(name)
    .description('A Kubernetes-compatible workload control plane in one process')
    .version(release)
    .exitOverride()
    .configureOutput({ outputError: (text, write) => write(`coxswain: ${oneLine(text)}\n`) })

  program.commandsGroup('Workloads of a cluster:')
  addStatusCommand(program, release)
  addWhyCommand(program, release)
  addWaitCommand(program, release)
  addRolloutCommand(program, release)
  addDashboardCommand(program, release)

  program.commandsGroup('A control plane, or a part of it:')
  addUpCommand(program, release)
  addStopCommand(program)
  addResetCommand(program)
  addApiServerCommand(program, release)
  addControllersCommand(program, release)
  addSchedulerCommand(program, release)
  addNodeCommand(program, release)
  addMonitorCommand(program, release)
  addPublishCommand(program, release)

  program.commandsGroup('Other commands:')
  addTokenCommand(program, release)
  addTopCommand(program, release)
  addSloCommand(program, release)
  addFaultCommand(program, release)
  addGenerateCommand(program)
  addManifestsCommand(program, release)
  addBackupCommands(program)
  addDoctorCommand(program)
  addCompletionCommand(program)
  addVersionCommand(program, release)
  return program
}
