import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { useCluster } from '../kubectl/cluster.ts'
import { type RunningPart, startControllers } from '../kubectl/coxswain.ts'

const cluster = useCluster()
let controllers: RunningPart

beforeAll(async () => {
  controllers = await startControllers(cluster.server.kubeconfig, ['--controllers', 'cronjob-controller,job-controller,garbage-collector-controller'])
})

afterAll(() => controllers?.stop())

describe('kubectl and CronJobs', () => {
  it('create, get, describe, suspend and delete work on one that starts jobs', async () => {
    const { kubectl } = cluster
    const jobsOf = () => kubectl.ok('get jobs -o name')
    await kubectl.ok("create cronjob tidy --image=broom '--schedule=@every 1s'")
    await expect.poll(jobsOf, { timeout: 40_000 }).toMatch(/^job\.batch\/tidy-\d+\n/)
    await expect.poll(() => kubectl.ok('get cronjob tidy --no-headers'), { timeout: 40_000 }).toMatch(/^tidy +@every 1s +<none> +False +[1-9] +\d+s +\d+s\n$/)
    await expect.poll(() => kubectl.ok('describe cronjob tidy'), { timeout: 40_000 }).toMatch(/Normal +SuccessfulCreate +\d+s.* +cronjob-controller +Created job tidy-\d+/)

    await kubectl.ok(`patch cronjob tidy -p '{"spec":{"suspend":true}}'`)
    await kubectl.ok('create job by-hand --from=cronjob/tidy')
    await expect.poll(() => kubectl.ok('get events -o jsonpath={.items[*].reason}'), { timeout: 40_000 }).toContain('UnexpectedJob')

    await kubectl.ok('delete cronjob tidy')
    await expect.poll(jobsOf, { timeout: 40_000 }).toBe('')
  })
})
