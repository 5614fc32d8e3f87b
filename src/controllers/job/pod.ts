import type { Container, Job, Pod, PodTemplateSpec } from '../../api/generated/types.ts'
import { maxGeneratedPrefix } from '../../api/generated-name.ts'
import type { New } from '../../client/index.ts'
import { namePrefix, podOfTemplate } from '../kit/workload/index.ts'
import {
  failuresBefore,
  indexAnnotation,
  indexFailuresAnnotation,
  indexIgnoredFailuresAnnotation,
  judgeFailure,
  trackingFinalizer,
} from './policies.ts'

const indexVariable = 'JOB_COMPLETION_INDEX'

/** The next pod of a Job. `predecessor` is the failed pod of the same index. */
export function podOf(job: Job, index: number | undefined, predecessor: Pod | undefined): New<Pod> {
  const { spec, metadata } = job
  const finalizers = spec.template.metadata?.finalizers?.includes(trackingFinalizer) ? [] : [trackingFinalizer]
  if (index === undefined) return podOfTemplate(spec.template, { generateName: namePrefix(metadata.name!), finalizers })
  const place = { [indexAnnotation]: `${index}` }
  return podOfTemplate(withIndex(spec.template, `${metadata.name}-${index}`), {
    generateName: prefixOf(metadata.name!, index),
    labels: place,
    annotations: { ...place, ...(spec.backoffLimitPerIndex === undefined ? {} : failuresOf(job, predecessor)) },
    finalizers,
  })
}

/** The prefix `job-3-`. The Job's name is truncated if it is too long. */
function prefixOf(name: string, index: number): string {
  const suffix = `-${index}-`
  return name.slice(0, maxGeneratedPrefix - suffix.length) + suffix
}

function failuresOf({ spec }: Job, predecessor: Pod | undefined): Record<string, string> {
  if (!predecessor) return { [indexFailuresAnnotation]: '0' }
  const { counted, ignored } = failuresBefore(predecessor)
  const isIgnored = judgeFailure(spec.podFailurePolicy, predecessor).action === 'Ignore'
  const allIgnored = ignored + (isIgnored ? 1 : 0)
  return {
    [indexFailuresAnnotation]: `${counted + (isIgnored ? 0 : 1)}`,
    ...(allIgnored > 0 ? { [indexIgnoredFailuresAnnotation]: `${allIgnored}` } : {}),
  }
}

function withIndex(template: PodTemplateSpec, hostname: string): PodTemplateSpec {
  const { initContainers, containers, ...spec } = template.spec
  return {
    ...template,
    spec: {
      ...spec,
      ...(initContainers ? { initContainers: initContainers.map(knowingIndex) } : {}),
      containers: containers.map(knowingIndex),
      hostname,
    },
  }
}

/** Adds the index variable to a container, unless it has a variable of that name. */
function knowingIndex(container: Container): Container {
  const { env = [] } = container
  if (env.some(({ name }) => name === indexVariable)) return container
  return {
    ...container,
    env: [
      ...env,
      { name: indexVariable, valueFrom: { fieldRef: { fieldPath: `metadata.labels['${indexAnnotation}']` } } },
    ],
  }
}
