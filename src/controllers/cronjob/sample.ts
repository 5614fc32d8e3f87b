import type { CronJob, Job } from '../../api/generated/types.ts'

/** A CronJob for tests, with Kubernetes' defaults. */
export const sampleCronJob = (
  spec: Partial<CronJob['spec']> = {},
  status: CronJob['status'] = {},
  created = '2026-01-01T09:30:00Z',
): CronJob => ({
  metadata: { name: 'tidy', namespace: 'default', uid: 'uid-tidy', creationTimestamp: created },
  spec: {
    schedule: '0 * * * *',
    concurrencyPolicy: 'Allow',
    suspend: false,
    successfulJobsHistoryLimit: 3,
    failedJobsHistoryLimit: 1,
    jobTemplate: {
      metadata: {},
      spec: {
        template: { spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'broom' }] } },
      } as unknown as Job['spec'],
    },
    ...spec,
  },
  status,
})

/** A job of the CronJob. `end` is its result. */
export const sampleJob = (
  name: string,
  end?: 'Complete' | 'Failed',
  times: { start?: string; completion?: string } = {},
): Job =>
  ({
    metadata: { name, namespace: 'default', uid: `uid-${name}`, resourceVersion: '7' },
    spec: {},
    status: {
      ...(times.start ? { startTime: times.start } : {}),
      ...(times.completion ? { completionTime: times.completion } : {}),
      ...(end ? { conditions: [{ type: end, status: 'True' }] } : {}),
    },
  }) as unknown as Job

/** A reference as the status lists it. */
export const sampleReference = (name: string) => ({
  apiVersion: 'batch/v1',
  kind: 'Job',
  name,
  namespace: 'default',
  uid: `uid-${name}`,
  resourceVersion: '7',
})
