import { getEventListeners } from 'node:events'
import { expect, it } from 'vitest'
import { Client, pods } from '../../client/index.ts'
import { InProcessTransport } from './in-process-transport.ts'
import { startCluster } from '../testing/test-cluster.ts'

it('a thousand requests with one signal share a listener, and all end with it', async () => {
  const cluster = await startCluster()
  try {
    const client = new Client(new InProcessTransport(cluster.server, { name: 'admin', groups: ['system:masters'] }))
    const abort = new AbortController()
    const { signal } = abort
    const asked = Array.from({ length: 1000 }, () => client.list(pods, 'default', { signal }))
    expect(getEventListeners(signal, 'abort').length).toBe(1)
    abort.abort(new Error('enough'))
    const answers = await Promise.allSettled(asked)
    expect(answers.every((a) => a.status === 'rejected' && (a.reason as Error).message === 'enough')).toBe(true)
  } finally {
    await cluster.stop()
  }
})
