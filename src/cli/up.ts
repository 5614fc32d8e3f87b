import type { Command } from 'commander'
import { type RunningApi, runEverything } from '../cluster/index.ts'
import { addServingCommand } from './serving-command.ts'

/** `coxswain up`: everything there is, in one process. */
export function addUpCommand(program: Command, release: string): void {
  const welcome = ({ kubeconfig }: RunningApi, dataDir: string) =>
    console.log(`
Coxswain ${release} is up. In another terminal:

  export KUBECONFIG=${kubeconfig}
  kubectl create deployment web --image=nginx --replicas=3
  kubectl get deployments,replicasets,pods

A scheduler and nodes are not part of this release yet: pods are made, and stay Pending.
Ctrl-C stops it; everything is kept in ${dataDir}.`)
  addServingCommand(program.command('up').description('run everything in one process (today: the API server and the controllers)'), release, { start: runEverything, welcome })
}
