import type { Command } from 'commander'
import { type RunningApi, serveApi } from '../cluster/index.ts'
import { addApiFlags, readApiFlags } from './api-flags.ts'
import { explainStartError, runUntilStopped } from './run-until-stopped.ts'

/** Makes a command one that serves the API until it is told to stop. `welcome` is called once it is ready. */
export function addServingCommand(command: Command, release: string, welcome: (running: RunningApi, dataDir: string) => void): void {
  addApiFlags(command).action(async () => {
    const options = await readApiFlags(command, release)
    const running = await serveApi(options).catch((e: unknown) => {
      throw explainStartError(e, options.securePort)
    })
    // Before anybody knows that it is ready: a signal that comes at once must not find nobody listening.
    const stopped = runUntilStopped(running)
    console.log(`ready ${running.url} kubeconfig ${running.kubeconfig}`)
    welcome(running, options.dataDir)
    await stopped
  })
}
