import { describe, expect, it } from 'vitest'
import { internalError } from '../../../src/api/errors.ts'
import type { CronJob, CronJobSpec, Job } from '../../../src/api/generated/types.ts'
import { type New, cronjobs, jobs } from '../../../src/client/index.ts'
import { cronJobController } from '../../../src/controllers/cronjob/controller.ts'
import { Scene } from '../kit/scene.ts'

const minuteMs = 60_000
const hourMs = 60 * minuteMs

const start = (startTime = '2026-01-01T09:59:30Z', options: Parameters<typeof Scene.start>[0] = {}) =>
  Scene.start({ controllers: [cronJobController()], startMs: Date.parse(startTime), ...options })

const cronJob = (spec: Partial<CronJobSpec> = {}): New<CronJob> => ({
  metadata: { name: 'tidy', namespace: 'default' },
  spec: {
    schedule: '* * * * *',
    jobTemplate: {
      metadata: { labels: { app: 'tidy' }, annotations: { by: 'us' } },
      spec: { template: { metadata: {}, spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'broom' }] } } },
    },
    ...spec,
  } as CronJobSpec,
})

const create = (s: Scene, spec?: Partial<CronJobSpec>) => s.client.create(cronjobs, cronJob(spec))
const change = (s: Scene, spec: Partial<CronJobSpec>) => s.client.patch(cronjobs, 'default', 'tidy', { spec }, { type: 'merge' })
const get = (s: Scene) => s.client.get(cronjobs, 'default', 'tidy')
const jobsOf = async (s: Scene) => [...(await s.client.list(jobs, 'default')).items].sort((a, b) => (a.metadata.creationTimestamp! < b.metadata.creationTimestamp! ? -1 : 1))
/** When the jobs there are were due, as their annotation says. */
const dueTimes = async (s: Scene) => (await jobsOf(s)).map((job) => job.metadata.annotations!['batch.kubernetes.io/cronjob-scheduled-timestamp'])
const activeNames = async (s: Scene) => ((await get(s)).status?.active ?? []).map((ref) => ref.name)

/** Does what the controller of jobs would. */
async function end(s: Scene, job: Job, how: 'Complete' | 'Failed'): Promise<void> {
  const time = `${new Date(s.clock.now()).toISOString().slice(0, 19)}Z`
  const before = how === 'Complete' ? 'SuccessCriteriaMet' : 'FailureTarget'
  const conditions = [before, how].map((type) => ({ type, status: 'True', lastProbeTime: time, lastTransitionTime: time, reason: 'Tested', message: '' }))
  const status = { startTime: job.metadata.creationTimestamp, conditions, ...(how === 'Complete' ? { completionTime: time } : {}) }
  await s.client.patch(jobs, 'default', job.metadata.name!, { status }, { type: 'merge', subresource: 'status' })
}

describe('a CronJob', () => {
  it('starts a job by itself whenever one is due', async () => {
    const s = await start()
    const { metadata } = await create(s, { timeZone: 'Europe/Berlin' })
    await s.pass(29_000)
    expect(await jobsOf(s)).toEqual([])
    await s.pass(2000)
    const [job] = await jobsOf(s)
    expect(job!.metadata).toMatchObject({
      name: `tidy-${Date.parse('2026-01-01T10:00:00Z') / minuteMs}`,
      labels: { app: 'tidy' },
      annotations: { by: 'us', 'batch.kubernetes.io/cronjob-scheduled-timestamp': '2026-01-01T11:00:00+01:00' },
      ownerReferences: [{ apiVersion: 'batch/v1', kind: 'CronJob', name: 'tidy', uid: metadata.uid, controller: true, blockOwnerDeletion: true }],
    })
    const { name, namespace, uid, resourceVersion } = job!.metadata
    expect((await get(s)).status).toEqual({
      active: [{ apiVersion: 'batch/v1', kind: 'Job', name, namespace, uid, resourceVersion }],
      lastScheduleTime: '2026-01-01T10:00:00Z',
    })
    await s.pass(2 * minuteMs)
    expect(await dueTimes(s)).toEqual(['2026-01-01T11:00:00+01:00', '2026-01-01T11:01:00+01:00', '2026-01-01T11:02:00+01:00'])
    expect(await s.events('tidy')).toEqual([1, 2, 3].map(() => expect.stringMatching(/^Normal SuccessfulCreate ×1: Created job tidy-\d+$/)))
    expect(s.wire.counts()).toEqual({ 'POST jobs': 3, 'PUT cronjobs status': 3 })
  })

  it('writes nothing while nothing is due', async () => {
    const s = await start()
    await create(s, { schedule: '0 0 1 1 *' })
    await s.pass(48 * hourMs)
    expect(s.wire.counts()).toEqual({})
  })

  it('sees how its jobs end, and keeps as many as its history has room for', async () => {
    const s = await start()
    await create(s, { successfulJobsHistoryLimit: 1, failedJobsHistoryLimit: 0 })
    for (const how of ['Complete', 'Failed', 'Complete'] as const) {
      await s.pass(minuteMs)
      await end(s, (await jobsOf(s)).at(-1)!, how)
      await s.pass(1000)
    }
    expect(await dueTimes(s)).toEqual(['2026-01-01T10:02:00Z'])
    expect((await get(s)).status).toEqual({ lastScheduleTime: '2026-01-01T10:02:00Z', lastSuccessfulTime: '2026-01-01T10:02:32Z' })
    const told = await s.events('tidy')
    expect(told.filter((t) => t.includes('SawCompletedJob')).map((t) => t.replace(/tidy-\d+/, '…'))).toEqual([
      'Normal SawCompletedJob ×1: Saw completed job: …, condition: Complete',
      'Normal SawCompletedJob ×1: Saw completed job: …, condition: Failed',
      'Normal SawCompletedJob ×1: Saw completed job: …, condition: Complete',
    ])
    expect(told.filter((t) => t.startsWith('Normal SuccessfulDelete ×1: Deleted job tidy-'))).toHaveLength(2)
  })

  it('lets one job run at a time with Forbid, and the next one as soon as it has ended', async () => {
    const s = await start()
    await create(s, { concurrencyPolicy: 'Forbid' })
    await s.pass(2 * minuteMs)
    expect(await dueTimes(s)).toEqual(['2026-01-01T10:00:00Z'])
    expect(await s.events('tidy')).toContain('Normal JobAlreadyActive ×1: Not starting job because prior execution is running and concurrency policy is Forbid')
    await end(s, (await jobsOf(s))[0]!, 'Complete')
    await s.pass(1000)
    expect(await dueTimes(s)).toEqual(['2026-01-01T10:00:00Z', '2026-01-01T10:01:00Z'])
    expect(await activeNames(s)).toHaveLength(1)
  })

  it('replaces the job that runs with Replace', async () => {
    const s = await start()
    await create(s, { concurrencyPolicy: 'Replace' })
    await s.pass(2 * minuteMs)
    expect(await dueTimes(s)).toEqual(['2026-01-01T10:01:00Z'])
    expect(await activeNames(s)).toEqual([(await jobsOf(s))[0]!.metadata.name])
  })

  it('starts nothing while suspended, and what was missed last when it is resumed', async () => {
    const s = await start()
    await create(s, { suspend: true })
    await s.pass(5 * minuteMs)
    expect(await jobsOf(s)).toEqual([])
    await change(s, { suspend: false })
    await s.pass(1000)
    expect(await dueTimes(s)).toEqual(['2026-01-01T10:04:00Z'])
  })

  it('starts nothing at once when its schedule is changed', async () => {
    const s = await start()
    await create(s, { schedule: '0 9 * * *' })
    await s.pass(30 * minuteMs)
    await change(s, { schedule: '0 10,11 * * *' })
    await s.pass(minuteMs)
    expect(await jobsOf(s)).toEqual([])
    await s.pass(30 * minuteMs)
    expect(await dueTimes(s)).toEqual(['2026-01-01T11:00:00Z'])
  })

  it.each([
    ['Europe/Berlin', 'spring', '30 2 * * *', '2026-03-28T12:00:00Z', ['2026-03-30T02:30:00+02:00']],
    ['Europe/Berlin', 'autumn', '30 2 * * *', '2026-10-24T12:00:00Z', ['2026-10-25T02:30:00+02:00', '2026-10-25T02:30:00+01:00', '2026-10-26T02:30:00+01:00']],
    ['America/New_York', 'spring', '30 2 * * *', '2026-03-07T12:00:00Z', ['2026-03-09T02:30:00-04:00']],
    ['America/New_York', 'autumn', '30 1 * * *', '2026-10-31T12:00:00Z', ['2026-11-01T01:30:00-04:00', '2026-11-01T01:30:00-05:00', '2026-11-02T01:30:00-05:00']],
    ['Australia/Lord_Howe', 'spring', '15,45 2 * * *', '2026-10-03T01:00:00Z', ['2026-10-04T02:45:00+11:00', '2026-10-05T02:15:00+11:00', '2026-10-05T02:45:00+11:00']],
    ['Australia/Lord_Howe', 'autumn', '45 1 * * *', '2026-04-04T01:00:00Z', ['2026-04-05T01:45:00+11:00', '2026-04-05T01:45:00+10:30', '2026-04-06T01:45:00+10:30']],
  ])('in %s, in %s, is due when the clocks say so', async (timeZone, _, schedule, from, due) => {
    const s = await start(from)
    await create(s, { schedule, timeZone })
    await s.pass(48 * hourMs)
    expect(await dueTimes(s)).toEqual(due)
  })
})

describe('the controller of CronJobs', () => {
  it.each(['jobs', 'cronjobs'])('makes exactly the writes it would make without delay when watch events of %s come 5 s late', async (plural) => {
    const life = async (lateMs: number) => {
      const s = await start()
      s.wire.delaysMs.set(plural, lateMs)
      await create(s, { concurrencyPolicy: 'Replace', successfulJobsHistoryLimit: 0 })
      await s.pass(90_000)
      await end(s, (await jobsOf(s))[0]!, 'Complete')
      await s.pass(90_000)
      return { counts: s.wire.counts(), due: await dueTimes(s), active: await activeNames(s) }
    }
    const onTime = await life(0)
    expect(onTime.counts['POST jobs']).toBe(3)
    expect(await life(5000)).toEqual(onTime)
  })

  it('does not start a job twice whose status could not be written', async () => {
    const s = await start()
    let failures = 3
    s.wire.intercept = (request, send) => (request.path.endsWith('/status') && failures-- > 0 ? Promise.reject(internalError('out of order')) : send())
    await create(s, { schedule: '0 10 * * *' })
    await s.pass(2 * minuteMs)
    expect(await dueTimes(s)).toEqual(['2026-01-01T10:00:00Z'])
    expect((await get(s)).status).toMatchObject({ active: [{ kind: 'Job' }], lastScheduleTime: '2026-01-01T10:00:00Z' })
    expect(s.wire.counts()['POST jobs']).toBe(1)
  })

  it('leaves a job alone that has the name of the next one and belongs to somebody else', async () => {
    const s = await start()
    await create(s, { schedule: '0 10 * * *' })
    const name = `tidy-${Date.parse('2026-01-01T10:00:00Z') / minuteMs}`
    await s.client.create(jobs, { metadata: { name, namespace: 'default' }, spec: cronJob().spec!.jobTemplate!.spec as Job['spec'] })
    await s.pass(5 * minuteMs)
    expect((await get(s)).status ?? {}).toEqual({})
    expect(await s.events('tidy')).toEqual([`Warning FailedCreate ×1: Error creating job: jobs.batch "${name}" already exists`])
  })

  it('tells why a job cannot be made, and makes it when it can', async () => {
    const s = await start()
    let isRefused = true
    s.wire.intercept = (request, send) => (request.path.endsWith('/jobs') && isRefused ? Promise.reject(internalError('no room')) : send())
    await create(s, { schedule: '0 10 * * *' })
    await s.pass(minuteMs)
    expect(await s.events('tidy')).toEqual(['Warning FailedCreate ×1: Error creating job: Internal error occurred: no room'])
    isRefused = false
    await s.pass(2 * minuteMs)
    expect(await dueTimes(s)).toEqual(['2026-01-01T10:00:00Z'])
  })
})
