import { describe, expect, it } from 'vitest'
import { runRolloutStatus } from '../../../src/cli/rollout/status.ts'
import { runStatus } from '../../../src/cli/status/run.ts'
import { runWhy } from '../../../src/cli/why/run.ts'
import { viewedCluster } from './viewer.ts'

describe('commands on a stock cluster, for a user who may only view', () => {
  it('status tells of every kind that there is', async () => {
    const { run } = await viewedCluster()
    const { code, out } = await run((session) => runStatus(session, { args: [], allNamespaces: false, showOwned: false, form: undefined, watch: false }))
    expect(code).toBe(0)
    for (const name of ['statefulset/db', 'daemonset/agent', 'deployment/web', 'job/task']) expect(out).toContain(name)
  })

  it('why names the cause, though the set has no conditions', async () => {
    const { run } = await viewedCluster()
    const { code, out } = await run((session) => runWhy(session, ['statefulset/db'], undefined))
    expect([code, out]).toEqual([3, expect.stringContaining('no such image')])
  })

  it.each([['daemonset/agent', 0], ['deployment/web', 0], ['job/task', 2]])('why %s ends with %i', async (name, code) => {
    const { run } = await viewedCluster()
    expect((await run((session) => runWhy(session, [name], undefined))).code).toBe(code)
  })

  it('rollout status tells that a rollout is complete', async () => {
    const { run } = await viewedCluster()
    const { code, out } = await run((session) => runRolloutStatus(session, { args: ['daemonset/agent'], watch: false, timeoutMs: undefined, live: false }))
    expect([code, out]).toEqual([0, expect.stringContaining('agent')])
  })
})
