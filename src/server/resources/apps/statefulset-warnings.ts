import type { StatefulSet, StatefulSetSpec } from '../../../api/generated/types.ts'
import { isPercent, percentOf } from '../../../api/int-or-string.ts'
import { podTemplateWarnings } from '../../../api/kinds/pod-template.ts'
import { quantityIsInteger } from '../../../api/quantity.ts'
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

/** How many pods the value lets go at a time, were there enough of them: a percentage counts of all replicas and is at least 1. */
function unavailableCount(value: number | string, replicas: number): number {
  if (typeof value === 'number') return value
  return isPercent(value) ? Math.max(1, percentOf(value, replicas, false)) : 0
}

/** More than can be updated is not an error, since scaling down must never make an object invalid; but it does not do what it says. */
function maxUnavailableWarnings(spec: StatefulSetSpec): string[] {
  const { maxUnavailable, partition = 0 } = spec.updateStrategy?.rollingUpdate ?? {}
  if (maxUnavailable === undefined) return []
  const replicas = spec.replicas ?? 0
  const bound = Math.max(0, replicas - partition)
  const count = unavailableCount(maxUnavailable, replicas)
  // 1 is the default and never asks for more than the controller gives.
  if (count <= 1 || count <= bound) return []
  const at = specPath.child('updateStrategy', 'rollingUpdate', 'maxUnavailable')
  const of = partition > 0 ? 'spec.replicas - spec.updateStrategy.rollingUpdate.partition' : 'spec.replicas'
  return [`${at}: ${JSON.stringify(maxUnavailable)} is more than ${of} (${bound}) and acts as ${bound}`]
}

/** What to tell the user of a StatefulSet that is fine. */
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
