import { createHmac, randomBytes } from 'node:crypto'
import type { CoreV1Event, PodTemplateSpec } from '../../api/generated/types.ts'
import type { KubeObject } from '../../api/object.ts'
import { eventTime } from '../../insight/workload/reader.ts'
import type { Condition } from '../../insight/workload/object.ts'

/** Converts a condition for pages. */
export const conditionFact = ({ type, status, reason, message, lastTransitionTime, lastUpdateTime }: Condition) => ({
  type,
  status,
  reason: reason ?? '',
  message: message ?? '',
  since: lastTransitionTime ?? '',
  updated: lastUpdateTime ?? '',
})

/** Converts an event for pages. */
export const eventFact = (event: CoreV1Event) => ({
  type: event.type ?? 'Normal',
  reason: event.reason ?? '',
  message: event.message ?? '',
  count: event.series?.count ?? event.count ?? 1,
  at: eventTime(event),
  from: event.source?.component || event.reportingComponent || '',
})

/** Returns the name, age and labels of an object. */
export const metadataFact = ({ metadata }: KubeObject) => ({
  namespace: metadata.namespace ?? '',
  name: metadata.name ?? '',
  created: metadata.creationTimestamp ?? '',
  deleted: metadata.deletionTimestamp ?? '',
  labels: metadata.labels ?? {},
  generation: metadata.generation ?? 0,
})

/** Digests are keyed per process, so that values cannot be guessed elsewhere. */
const digestKey = randomBytes(16)
const digest = (text: string): string => createHmac('sha256', digestKey).update(text).digest('hex').slice(0, 6)

/**
 * Returns a template without the values of environment variables, which may be secret. Digests replace them, so that
 * changes are visible.
 */
export function withoutValues(template: PodTemplateSpec): PodTemplateSpec {
  const hide = <C extends { env?: { value?: string }[] }>(containers: C[] | undefined) =>
    containers?.map((container) =>
      container.env
        ? {
            ...container,
            env: container.env.map((one) => (one.value ? { ...one, value: `hidden-${digest(one.value)}` } : one)),
          }
        : container,
    )
  const { spec } = template
  if (!spec) return template
  const { containers, initContainers, ...rest } = spec
  return {
    ...template,
    spec: {
      ...(initContainers ? { initContainers: hide(initContainers) } : {}),
      containers: hide(containers) ?? [],
      ...rest,
    },
  } as PodTemplateSpec
}
