import type { Command } from 'commander'
import { runControllers } from '../../cluster/index.ts'
import { addControllerFlags, readControllerFlags } from '../flags/controller-flags.ts'
import { runPartCommand } from '../flags/part-flags.ts'

/** `coxswain controllers`: only the controllers, against any API server. */
export function addControllersCommand(program: Command, release: string): void {
  const command = addControllerFlags(
    program.command('controllers').description('run the controllers against an API server'),
  )
  command.action(async () => runPartCommand(await readControllerFlags(command, release), runControllers))
}
