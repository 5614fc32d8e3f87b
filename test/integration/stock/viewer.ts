import { onTestFinished } from 'vitest'
import { exitCodeOf, failureText } from '../../../src/cli/failure.ts'
import type { Session } from '../../../src/cli/session.ts'
import { CapturedOutput } from '../../../src/cli/terminal/testing.ts'
import { Client, type Transport, clusterrolebindings, daemonsets, deployments, jobs, statefulsets } from '../../../src/client/index.ts'
import { InProcessTransport, SeededRandom, settled } from '../../../src/cluster/testing.ts'
import { StockScene } from './stock-scene.ts'
import { daemonSet, deployment, job, statefulSet } from './workloads.ts'

/** The output and exit code of a command. */
export interface Said {
  code: number
  out: string
  err: string
}

/** A stock cluster with workloads of four kinds, one of which is in trouble, and a user who may view it and no more. */
export async function viewedCluster(wrap: (transport: Transport) => Transport = (transport) => transport) {
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
  const transport = wrap(new InProcessTransport(s.cluster.server, { name: 'ann', groups: ['system:authenticated'] }))
  onTestFinished(() => transport.close())
  const run = async (command: (session: Session) => Promise<number>): Promise<Said> => {
    const [out, err] = [new CapturedOutput(), new CapturedOutput()]
    const client = new Client(transport, { clock: s.clock })
    const session: Session = {
      client, clock: s.clock, err, namespace: 'default', random: new SeededRandom(3), out, program: 'coxswain',
      signal: new AbortController().signal,
    }
    const code = await command(session).catch((e: unknown) => {
      err.write(`${failureText(e)}\n`)
      return exitCodeOf(e)
    })
    return { code, out: out.text, err: err.text }
  }
  return { s, run }
}
