import { describe, expect, it, onTestFinished } from 'vitest'
import { exitCodeOf, failureText } from '../../../src/cli/failure.ts'
import { runRolloutStatus } from '../../../src/cli/rollout/status.ts'
import type { Session } from '../../../src/cli/session.ts'
import { runStatus } from '../../../src/cli/status/run.ts'
import { CapturedOutput } from '../../../src/cli/terminal/testing.ts'
import { runWhy } from '../../../src/cli/why/run.ts'
import { Client, clusterrolebindings, daemonsets, deployments, jobs, statefulsets } from '../../../src/client/index.ts'
import { InProcessTransport, SeededRandom, settled } from '../../../src/cluster/testing.ts'
import { StockScene } from './stock-scene.ts'
import { daemonSet, deployment, job, statefulSet } from './workloads.ts'

/** A stock cluster with workloads, and commands of a user who may view it and no more. */
async function begin() {
  const s = await StockScene.begin({ authorization: [{ type: 'RBAC' }], isDefined: false })
  await s.client.create(clusterrolebindings, {
    metadata: { name: 'ann' }, roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'system:aggregate-to-view' },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'ann' }],
  } as never)
  await s.client.create(statefulsets, statefulSet('db'))
  await s.client.create(daemonsets, daemonSet('agent'))
  await s.client.create(deployments, deployment('web'))
  await s.client.create(jobs, job('task'))
  await settled()
  for (const app of ['agent', 'web']) await s.report(app)
  await s.kubelet.report({ waiting: 'ImagePullBackOff', message: 'no such image' }, await s.podsOf('db'))
  await s.pass(5000)
  const transport = new InProcessTransport(s.cluster.server, { name: 'ann', groups: ['system:authenticated'] })
  onTestFinished(() => transport.close())
  const run = async (command: (session: Session) => Promise<number>) => {
    const [out, err] = [new CapturedOutput(), new CapturedOutput()]
    const client = new Client(transport, { clock: s.clock })
    const session: Session = { client, clock: s.clock, err, namespace: 'default', random: new SeededRandom(3), out, program: 'coxswain', signal: new AbortController().signal }
    const code = await command(session).catch((e: unknown) => {
      err.write(`${failureText(e)}\n`)
      return exitCodeOf(e)
    })
    return { code, out: out.text, err: err.text }
  }
  return { s, run }
}

describe('commands on a stock cluster, for a user who may only view', () => {
  it('status tells of every kind that there is', async () => {
    const { run } = await begin()
    const { code, out } = await run((session) => runStatus(session, { args: [], allNamespaces: false, showOwned: false, form: undefined, watch: false }))
    expect(code).toBe(0)
    for (const name of ['statefulset/db', 'daemonset/agent', 'deployment/web', 'job/task']) expect(out).toContain(name)
  })

  it('why names the cause, though the set has no conditions', async () => {
    const { run } = await begin()
    const { out } = await run((session) => runWhy(session, ['statefulset/db'], undefined))
    expect(out).toContain('no such image')
  })

  it('rollout status tells that a rollout is complete', async () => {
    const { run } = await begin()
    const { code, out } = await run((session) => runRolloutStatus(session, { args: ['daemonset/agent'], watch: false, timeoutMs: undefined, live: false }))
    expect([code, out]).toEqual([0, expect.stringContaining('agent')])
  })
})
