import type { Command } from 'commander'
import { addServingCommand } from './serving-command.ts'

/** `coxswain up`: everything there is, in one process. */
export const addUpCommand = (program: Command, release: string): void =>
  addServingCommand(program.command('up').description('run everything in one process (today: the API server)'), release, (running, dataDir) =>
    console.log(`
Coxswain ${release} is up. In another terminal:

  export KUBECONFIG=${running.kubeconfig}
  kubectl get namespaces
  kubectl create deployment web --image=nginx

Controllers, a scheduler and nodes are not part of this release yet: objects are kept, nothing acts on them.
Ctrl-C stops it; everything is kept in ${dataDir}.`),
  )
