import { differingPath, semanticEqual } from '../../../api/deep-equal.ts'
import type { CloneSetStatus, PodSpec, PodTemplateSpec } from '../../../api/generated/types.ts'
import { repeatedPlaces, validateNonnegative } from '../../../api/validation/field-checks.ts'
import { validateNonnegativeIntOrPercent } from '../../../api/numbers/int-or-string.ts'
import { type FieldError, forbidden, invalid } from '../../../api/validation/field-error.ts'
import { Path } from '../../../api/validation/path.ts'
import { claimVolumes, validateClaimTemplates } from '../apps/claim-templates.ts'
import { validateDeadline } from '../apps/progress-deadline.ts'
import {
  validateAtMostReplicas,
  validateAvailableAreReady,
  validateCollisionCount,
  validateCounts,
  validateSelectedTemplate,
} from '../apps/workload-rules.ts'
import type { Rollout, SharedSpec } from './cloneset-spec.ts'
import { validateRollout } from './rollout-validation.ts'

const specPath = Path.of('spec')
const statusPath = Path.of('status')
const scalePath = specPath.child('scaleStrategy')

/** The template with a volume for every claim template, as its pods have it. */
function asInPods({ template, volumeClaimTemplates }: SharedSpec): PodTemplateSpec {
  const volumes = [...(template.spec.volumes ?? []), ...claimVolumes(volumeClaimTemplates)]
  return { ...template, spec: { ...template.spec, volumes } }
}

function validateScaling({ scaleStrategy: { podsToDelete = [], maxUnavailable } }: SharedSpec): FieldError[] {
  const places = repeatedPlaces(podsToDelete)
  const repeated = podsToDelete.filter((_, i) => places.has(i))
  return [
    ...(repeated.length
      ? [
          invalid(
            scalePath.child('podsToDelete'),
            podsToDelete,
            `duplicated items [${[...new Set(repeated)].join(' ')}]`,
          ),
        ]
      : []),
    ...(maxUnavailable === undefined
      ? []
      : validateNonnegativeIntOrPercent(maxUnavailable, scalePath.child('maxUnavailable'))),
  ]
}

const selectorWords = { empty: 'empty selector is invalid for cloneset', malformed: '', kind: 'cloneset' }

/** Validates a CloneSet's spec. */
export function validateCloneSetSpec(spec: SharedSpec, rollout: Rollout, old?: SharedSpec): FieldError[] {
  return [
    ...validateNonnegative(spec.replicas, specPath.child('replicas')),
    ...validateSelectedTemplate(spec.selector, asInPods(spec), specPath, selectorWords, old && asInPods(old)),
    ...validateClaimTemplates(spec.volumeClaimTemplates, specPath.child('volumeClaimTemplates')),
    ...validateScaling(spec),
    ...validateRollout(rollout, spec.replicas ?? 1),
    ...validateNonnegative(spec.minReadySeconds, specPath.child('minReadySeconds')),
    ...validateNonnegative(spec.revisionHistoryLimit, specPath.child('revisionHistoryLimit')),
    ...validateDeadline(spec, specPath),
  ]
}

/** The mutable fields, in the order of the message. */
const mutable = [
  'replicas',
  'template',
  'lifecycle',
  'scaleStrategy',
  'updateStrategy',
  'minReadySeconds',
  'volumeClaimTemplates',
  'progressDeadlineSeconds',
  'revisionHistoryLimit',
]
const mutableText = mutable.map((field) => `'${field}'`)

const fixedPart = (spec: SharedSpec) =>
  Object.fromEntries(Object.entries(spec).filter(([field]) => !mutable.includes(field)))

/** Returns the first difference of two pods besides container images. */
function differenceBeyondImages(pod: PodSpec, old: PodSpec): string | undefined {
  const containers = pod.containers.map((container, i) =>
    old.containers[i] ? { ...container, image: old.containers[i].image } : container,
  )
  return differingPath({ ...pod, containers }, old)
}

/** Validates an update of a CloneSet's spec. */
export function validateCloneSetUpdate(spec: SharedSpec, old: SharedSpec, rollout: Rollout): FieldError[] {
  const errors: FieldError[] = []
  if (!semanticEqual(fixedPart(spec), fixedPart(old))) {
    const all = `${mutableText.slice(0, -1).join(', ')} and ${mutableText.at(-1)}`
    errors.push(forbidden(specPath, `updates to cloneset spec for fields other than ${all} are forbidden`))
  }
  const found =
    rollout.policy === 'InPlaceOnly' ? differenceBeyondImages(spec.template.spec, old.template.spec) : undefined
  if (found !== undefined)
    errors.push(
      forbidden(specPath, `only allowed to update images in spec for InPlaceOnly, but found a change of ${found}`),
    )
  return [...errors, ...validateCloneSetSpec(spec, rollout, old)]
}

/** Validates a CloneSet's status. */
export function validateCloneSetStatus(
  { status }: { status?: CloneSetStatus },
  { status: old }: { status?: CloneSetStatus },
): FieldError[] {
  const counts: Partial<CloneSetStatus> = status ?? {}
  const ofPods = [
    'readyReplicas',
    'availableReplicas',
    'updatedReplicas',
    'updatedReadyReplicas',
    'updatedAvailableReplicas',
  ] as const
  return [
    ...validateCounts(
      counts,
      ['replicas', ...ofPods, 'expectedUpdatedReplicas', 'desiredReplicas', 'observedGeneration', 'collisionCount'],
      statusPath,
    ),
    ...validateAtMostReplicas(counts, ofPods, statusPath),
    ...validateAvailableAreReady(counts, statusPath, 'cannot be greater than status.readyReplicas'),
    ...validateCollisionCount(counts, old, statusPath),
  ]
}
