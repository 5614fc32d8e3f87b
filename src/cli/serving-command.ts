import type { Command } from 'commander'
import type { RunningApi, ServeOptions } from '../cluster/index.ts'
import { addApiFlags, readApiFlags } from './api-flags.ts'
import { explainStartError, runUntilStopped } from './run-until-stopped.ts'

export interface Serving<R extends RunningApi> {
  /** Called with what the command line says; the command's own flags are its to read. */
  start(options: ServeOptions): Promise<R>
  /** Called once it is ready. */
  welcome?(running: R, dataDir: string): void
}

/** Makes a command one that serves the API until it is told to stop. */
export function addServingCommand<R extends RunningApi>(command: Command, release: string, { start, welcome }: Serving<R>): void {
  addApiFlags(command).action(async () => {
    const options = await readApiFlags(command, release)
    const running = await start(options).catch((e: unknown) => {
      throw explainStartError(e, options.securePort)
    })
    // Before anybody knows that it is ready: a signal that comes at once must not find nobody listening.
    const stopped = runUntilStopped(running)
    console.log(`ready ${running.url} kubeconfig ${running.kubeconfig}`)
    welcome?.(running, options.dataDir)
    await stopped
  })
}
