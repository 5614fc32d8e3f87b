import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll } from 'vitest'
import { type RunningPart, type RunningServer, startControllers, startEverything, startServer } from './coxswain.ts'
import { Kubectl } from './kubectl.ts'

/** A server and a kubectl that talks to it, for the tests of one file. */
export interface Cluster {
  readonly server: RunningServer
  readonly kubectl: Kubectl
}

/** Starts a server before the tests of a file and stops it after them. */
export const useCluster = (flags: readonly string[] = []): Cluster => using(startServer, flags)

/** The same with everything in one process: controllers, scheduler, nodes. */
export const useEverything = (flags: readonly string[] = []): Cluster => using(startEverything, flags)

function using(start: typeof startServer, flags: readonly string[]): Cluster {
  let server: RunningServer
  let kubectl: Kubectl
  let dir: string
  beforeAll(async () => {
    dir = mkdtempSync(path.join(tmpdir(), 'coxswain-e2e-'))
    server = await start(dir, flags)
    kubectl = new Kubectl(server.kubeconfig)
  })
  afterAll(async () => {
    await server?.stop()
    kubectl?.remove()
    rmSync(dir, { recursive: true, force: true })
  })
  return {
    get server() {
      return server
    },
    get kubectl() {
      return kubectl
    },
  }
}

/** Applies pods before the tests of a file, waits until those that `awaited` names are ready, and takes them all away at the end. The cluster must run everything. */
export function usePods(cluster: Cluster, manifest: string, awaited: string): void {
  beforeAll(async () => {
    cluster.kubectl.file('pods.yaml', manifest)
    // Accounts are made a moment after their namespace, and pods get tokens of them.
    await cluster.kubectl.ok('wait --for=create serviceaccount/default --timeout=60s')
    await cluster.kubectl.ok('apply -f pods.yaml')
    await cluster.kubectl.ok(`wait --for=condition=Ready ${awaited} --timeout=60s`)
  }, 60_000)
  afterAll(() => cluster.kubectl?.run('delete pods --all --now --timeout=60s'))
}

/** Runs controllers against the cluster for the tests of a file, all of them unless flags say otherwise. */
export function useControllers(cluster: Cluster, flags: readonly string[] = ['--leader-elect=false']): void {
  let controllers: RunningPart | undefined
  beforeAll(async () => {
    controllers = await startControllers(cluster.server.kubeconfig, flags)
  })
  afterAll(() => controllers?.stop())
}
