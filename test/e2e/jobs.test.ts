import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { useCluster } from '../kubectl/cluster.ts'
import { type RunningPart, startControllers } from '../kubectl/coxswain.ts'

const cluster = useCluster()
let controllers: RunningPart
beforeAll(async () => {
  controllers = await startControllers(cluster.server.kubeconfig, ['--leader-elect=false'])
})
afterAll(() => controllers?.stop())

const podsOf = async (job: string): Promise<string[]> => {
  const list = () => cluster.kubectl.ok(`get pods -l job-name=${job} -o name`)
  await expect.poll(list, { timeout: 40_000 }).not.toBe('')
  return (await list()).trim().split('\n')
}

/** Reports a pod's phase like a node. */
const report = async (pod: string, phase: string): Promise<void> => {
  await cluster.kubectl.ok(`patch ${pod} --subresource=status --type=merge -p '{"status":{"phase":"${phase}"}}'`)
}

const waitFor = (condition: string, job: string) => cluster.kubectl.ok(`wait --for=condition=${condition} job/${job} --timeout=60s`)

describe('kubectl and Jobs', () => {
  it('waits for every condition of a Job that succeeds', async () => {
    await cluster.kubectl.ok('create job good --image=registry.example/app:1')
    await waitFor('Waiting', 'good')
    const [pod] = await podsOf('good')
    await report(pod!, 'Running')
    await waitFor('Running', 'good')
    await waitFor('Waiting=false', 'good')
    await report(pod!, 'Succeeded')
    await waitFor('Complete', 'good')
    await waitFor('Running=false', 'good')
    expect(await cluster.kubectl.ok('get job good')).toMatch(/^NAME +STATUS +COMPLETIONS +DURATION +AGE\ngood +Complete +1\/1 /)
    expect(await cluster.kubectl.ok('describe job good')).toMatch(/Normal +SuccessfulCreate .* Created pod: good-\w{5}\n +Normal +Completed .* Job completed/)
  })

  it('waits for a Job that fails', async () => {
    await cluster.kubectl.ok('create job bad --image=registry.example/app:1 --dry-run=client -o yaml').then((yaml) =>
      cluster.kubectl.ok('create -f -', yaml.replace('spec:\n', 'spec:\n  backoffLimit: 0\n')),
    )
    const [pod] = await podsOf('bad')
    await report(pod!, 'Failed')
    await waitFor('Failed', 'bad')
    expect(await cluster.kubectl.ok(`get job bad -o 'jsonpath={.status.conditions[?(@.type=="Failed")].reason}'`)).toBe('BackoffLimitExceeded')
  })

  it('suspends and resumes', async () => {
    await cluster.kubectl.ok('create job pausing --image=registry.example/app:1')
    const [pod] = await podsOf('pausing')
    await cluster.kubectl.ok(`patch job pausing --type=merge -p '{"spec":{"suspend":true}}'`)
    await waitFor('Suspended', 'pausing')
    await waitFor('Waiting', 'pausing')
    await cluster.kubectl.ok(`wait --for=delete ${pod} --timeout=60s`)
    await cluster.kubectl.ok(`patch job pausing --type=merge -p '{"spec":{"suspend":false}}'`)
    await waitFor('Suspended=false', 'pausing')
    await report((await podsOf('pausing'))[0]!, 'Succeeded')
    await waitFor('Complete', 'pausing')
  })

  it('deletes a Job with its pods, finalizers and all', async () => {
    await cluster.kubectl.ok('create job going --image=registry.example/app:1')
    const [pod] = await podsOf('going')
    await cluster.kubectl.ok('delete job going --cascade=foreground --timeout=60s')
    await cluster.kubectl.ok(`wait --for=delete ${pod} --timeout=60s`)
  })
})
