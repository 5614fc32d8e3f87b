import type { TestProject } from 'vitest/node'
import { EtcdCluster } from './etcd-cluster.ts'

declare module 'vitest' {
  interface ProvidedContext {
    etcdServers: string
  }
}

/** Runs an etcd of one member for all files of a project whose servers store in etcd. */
export async function setup({ provide }: TestProject): Promise<() => Promise<void>> {
  const cluster = await EtcdCluster.start()
  provide('etcdServers', cluster.urls.join(','))
  return () => cluster.stop()
}
