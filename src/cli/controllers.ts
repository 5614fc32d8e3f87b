import type { Command } from 'commander'
import { runControllers } from '../cluster/index.ts'
import { addControllerFlags, readControllerFlags } from './controller-flags.ts'
import { explainStartError, runUntilStopped } from './run-until-stopped.ts'

/** `coxswain controllers`: the controllers alone, against any API server. */
export function addControllersCommand(program: Command, release: string): void {
  const command = addControllerFlags(program.command('controllers').description('run the controllers against an API server'))
  command.action(async () => {
    const options = await readControllerFlags(command, release)
    const running = await runControllers(options).catch((e: unknown) => {
      throw explainStartError(e, options.securePort)
    })
    const stopped = runUntilStopped(running)
    const known = running.roleKnown().then((role) => {
      if (role.kind !== 'unknown') console.log(`ready ${running.url} ${role.kind}${role.kind === 'standing by' ? `, the leader is ${role.leader}` : ''}`)
      return stopped
    })
    await Promise.race([known, stopped])
  })
}
