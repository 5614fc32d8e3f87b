import type { Command } from 'commander'
import { serveApi } from '../cluster/index.ts'
import { addApiFlags, readApiFlags } from './api-flags.ts'
import { explainStartError, runUntilStopped } from './run-until-stopped.ts'

/** `coxswain up`: everything there is, in one process. */
export function addUpCommand(program: Command, release: string): void {
  const command = addApiFlags(program.command('up').description('run everything in one process (today: the API server)'))
  command.action(async () => {
    const options = await readApiFlags(command, release)
    const running = await serveApi(options).catch((e: unknown) => {
      throw explainStartError(e, options.securePort)
    })
    console.log(`ready ${running.url} kubeconfig ${running.kubeconfig}`)
    console.log(`
Coxswain ${release} is up. In another terminal:

  export KUBECONFIG=${running.kubeconfig}
  kubectl get namespaces
  kubectl create deployment web --image=nginx

Controllers, a scheduler and nodes are not part of this release yet: objects are kept, nothing acts on them.
Ctrl-C stops it; everything is kept in ${options.dataDir}.`)
    await runUntilStopped(running)
  })
}
