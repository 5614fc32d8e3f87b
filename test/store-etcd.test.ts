import { afterAll, beforeAll } from 'vitest'
import { systemClock } from '../src/base/clock.ts'
import { describeStore } from '../src/store/conformance/index.ts'
import { openEtcdStore } from '../src/store/index.ts'
import { EtcdCluster } from './etcd/etcd-cluster.ts'

let cluster: EtcdCluster
let stores = 0

beforeAll(async () => {
  cluster = await EtcdCluster.start({ members: 3 })
})

afterAll(() => cluster.stop())

describeStore('etcd', async () => {
  const theirs = `/store-${++stores}`
  return {
    open: (clock) => openEtcdStore({ servers: cluster.urls, prefix: { ours: '', theirs }, clock, timers: systemClock }),
    remove: async () => undefined,
  }
}, { isShared: true })
