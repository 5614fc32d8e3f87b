import { Command } from 'commander'
import { addApiServerCommand } from './serve/apiserver.ts'
import { addBackupCommands } from './upkeep/backup.ts'
import { addCompletionCommand } from './completion/command.ts'
import { addControllersCommand } from './serve/controllers.ts'
import { addDashboardCommand } from './serve/dashboard.ts'
import { addResetCommand, addStopCommand } from './upkeep/data-directory.ts'
import { addDoctorCommand } from './upkeep/doctor.ts'
import { addExamples } from './examples.ts'
import { addFaultCommand } from './fault/command.ts'
import { addGenerateCommand } from './generate/command.ts'
import { addManifestsCommand } from './upkeep/manifests.ts'
import { addMonitorCommand } from './serve/monitor.ts'
import { addNodeCommand } from './serve/node.ts'
import { addPublishCommand } from './serve/publish.ts'
import { addRolloutCommand } from './rollout/command.ts'
import { addSchedulerCommand } from './serve/scheduler.ts'
import { addSloCommand } from './slo/command.ts'
import { addStatusCommand } from './status/command.ts'
import { addTokenCommand } from './upkeep/token.ts'
import { addTopCommand } from './top/command.ts'
import { addUpCommand } from './serve/up.ts'
import { addVersionCommand } from './version.ts'
import { addWaitCommand } from './wait/command.ts'
import { addWhyCommand } from './why/command.ts'

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

  addExamples(program)
  return program
}
