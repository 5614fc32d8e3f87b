import type { StatefulSet, StatefulSetSpec } from '../../../api/generated/types.ts'
import { isPercent, percentOf } from '../../../api/numbers/int-or-string.ts'
import { podTemplateWarnings } from '../../../api/kinds/pods/pod-template.ts'
import { quantityIsInteger } from '../../../api/numbers/quantity.ts'
import { Path } from '../../../api/validation/path.ts'

const specPath = Path.of('spec')

function claimWarnings(spec: StatefulSetSpec): string[] {
  return (spec.volumeClaimTemplates ?? []).flatMap((claim, i) =>
    (['requests', 'limits'] as const).flatMap((kind) => {
      const size = claim.spec?.resources?.[kind]?.['storage']
      if (size === undefined || quantityIsInteger(size)) return []
      const at = specPath.child('volumeClaimTemplates').index(i).child('resources', kind).key('storage')
      return [`${at}: fractional byte value ${JSON.stringify(size)} is invalid, must be an integer`]
    }),
  )
}

function revisionHistoryWarnings(spec: StatefulSetSpec): string[] {
  if ((spec.revisionHistoryLimit ?? 0) >= 0) return []
  return ['spec.revisionHistoryLimit: a negative value retains all historical revisions; a value >= 0 is recommended']
}

/** The number of pods that the value allows to be unavailable: a percentage is of all replicas and at least 1. */
function unavailableCount(value: number | string, replicas: number): number {
  if (typeof value === 'number') return value
  return isPercent(value) ? Math.max(1, percentOf(value, replicas, false)) : 0
}

/**
 * A maxUnavailable above the number of updatable pods is only a warning, because scaling down must not make an object
 * invalid.
 */
function maxUnavailableWarnings(spec: StatefulSetSpec): string[] {
  const { maxUnavailable, partition = 0 } = spec.updateStrategy?.rollingUpdate ?? {}
  if (maxUnavailable === undefined) return []
  const replicas = spec.replicas ?? 0
  const bound = Math.max(0, replicas - partition)
  const count = unavailableCount(maxUnavailable, replicas)
  // The default of 1 never exceeds the controller's limit.
  if (count <= 1 || count <= bound) return []
  const at = specPath.child('updateStrategy', 'rollingUpdate', 'maxUnavailable')
  const of = partition > 0 ? 'spec.replicas - spec.updateStrategy.rollingUpdate.partition' : 'spec.replicas'
  return [`${at}: ${JSON.stringify(maxUnavailable)} is more than ${of} (${bound}) and acts as ${bound}`]
}

/** The warnings for a valid StatefulSet. */
export function statefulSetWarnings(obj: StatefulSet, old: StatefulSet | undefined): string[] {
  const spec = obj.spec!
  const isSame = old !== undefined && obj.metadata.generation === old.metadata.generation
  return [
    ...(isSame ? [] : podTemplateWarnings(spec.template, specPath.child('template'), old?.spec!.template)),
    ...claimWarnings(spec),
    ...revisionHistoryWarnings(spec),
    ...(isSame ? [] : maxUnavailableWarnings(spec)),
  ]
}
