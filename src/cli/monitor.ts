import type { Command } from 'commander'
import { type RunMonitorOptions, runMonitor } from '../cluster/index.ts'
import { addDoorFlags, readDoorFlags } from './door-flags.ts'
import { something } from './flag-values.ts'
import { addMonitorChoices, readMonitorChoices } from './monitor-flags.ts'
import { addMonitorRulesCommand } from './monitor-rules.ts'
import { addServingPartFlags, readPartFlags, runPartCommand } from './part-flags.ts'

/** The flags of `coxswain monitor`. */
export const addMonitorFlags = (command: Command): Command =>
  addMonitorChoices(
    addDoorFlags(
      addServingPartFlags(command, { flag: '--port', port: 9464 })
        .option('--data-dir <dir>', 'where it keeps what it has to remember', something, './.coxswain-monitor'),
    ),
  )

/** Reads the flags of a command line, and of the file that --config names; the command line wins. */
export async function readMonitorFlags(command: Command, release: string): Promise<RunMonitorOptions> {
  const options = await readPartFlags(command, release)
  const { dataDir } = command.opts<{ dataDir: string }>()
  return { ...options, ...readMonitorChoices(command, 'all'), dataDir, door: readDoorFlags(command) }
}

/** `coxswain monitor`: the monitor alone, against any API server of Kubernetes. */
export function addMonitorCommand(program: Command, release: string): void {
  const command = addMonitorFlags(program.command('monitor').description('watch how long pods wait for their sandboxes, against an API server'))
  command.action(async () => runPartCommand(await readMonitorFlags(command, release), runMonitor, '--port'))
  addMonitorRulesCommand(command)
}
