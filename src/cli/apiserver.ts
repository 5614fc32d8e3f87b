import type { Command } from 'commander'
import { serveApi } from '../cluster/index.ts'
import { addApiFlags, readApiFlags } from './api-flags.ts'
import { explainStartError, runUntilStopped } from './run-until-stopped.ts'

/** `coxswain apiserver`: the API server alone. */
export function addApiServerCommand(program: Command, release: string): void {
  const command = addApiFlags(program.command('apiserver').description('run the API server'))
  command.action(async () => {
    const options = await readApiFlags(command, release)
    const running = await serveApi(options).catch((e: unknown) => {
      throw explainStartError(e, options.securePort)
    })
    console.log(`ready ${running.url} kubeconfig ${running.kubeconfig}`)
    await runUntilStopped(running)
  })
}
