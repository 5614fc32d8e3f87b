import type { Command } from 'commander'
import type { RunningApi, ServeOptions } from '../../cluster/index.ts'
import { addApiFlags, readApiFlags } from '../flags/api-flags.ts'
import { explainStartError, runUntilStopped } from './run-until-stopped.ts'

export interface Serving<R extends RunningApi> {
  /** Starts the server. The command reads its own flags. */
  start(options: ServeOptions): Promise<R>
  /** Called when the server is ready. */
  welcome?(running: R, dataDir: string): void
  /** Called on stop. Returns the text to print after it has stopped. */
  farewell?(running: R): string
}

/** Makes a command serve the API until it is stopped. */
export function addServingCommand<R extends RunningApi>(
  command: Command,
  release: string,
  { start, welcome, farewell }: Serving<R>,
): void {
  addApiFlags(command).action(async () => {
    const options = await readApiFlags(command, release)
    const running = await start(options).catch((e: unknown) => {
      throw explainStartError(e, options.securePort)
    })
    // Handlers are installed before readiness is announced: a signal may follow immediately.
    const stopped = runUntilStopped({
      // The server has logged the reason. It serves nothing any more.
      failed: new Promise((resolve) => running.server.whenEnded(resolve)),
      async stop() {
        const text = farewell?.(running)
        await running.stop()
        if (text !== undefined) console.log(text)
      },
    })
    console.log(`ready ${running.url} kubeconfig ${running.kubeconfig}`)
    welcome?.(running, options.dataDir)
    await stopped
  })
}
