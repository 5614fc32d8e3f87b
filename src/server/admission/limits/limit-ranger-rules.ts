import type { Container, LimitRangeItem, PersistentVolumeClaim, Pod } from '../../../api/generated/types.ts'
import { specLimits, specRequests } from '../../../api/kinds/pods/pod-resources.ts'
import type { ResourceList } from '../../../api/kinds/quantities/resource-names.ts'
import { compareQuantity, isZeroQuantity, quantityToNumber } from '../../../api/numbers/quantity.ts'

/** The requests and limits of a container, pod or claim. */
interface Asked {
  requests: ResourceList
  limits: ResourceList
}

type Rule = (type: string, name: string, enforced: string, asked: Asked) => string | undefined

const minimum: Rule = (type, name, enforced, { requests, limits }) => {
  const [request, limit] = [requests[name], limits[name]]
  const rule = `minimum ${name} usage per ${type} is ${enforced}`
  if (request === undefined) return `${rule}.  No request is specified`
  if (compareQuantity(request, enforced) < 0) return `${rule}, but request is ${request}`
  if (limit !== undefined && compareQuantity(limit, enforced) < 0) return `${rule}, but limit is ${limit}`
  return undefined
}

const maximum: Rule = (type, name, enforced, { requests, limits }) => {
  const [request, limit] = [requests[name], limits[name]]
  const rule = `maximum ${name} usage per ${type} is ${enforced}`
  if (limit === undefined) return `${rule}.  No limit is specified`
  if (compareQuantity(limit, enforced) > 0) return `${rule}, but limit is ${limit}`
  if (request !== undefined && compareQuantity(request, enforced) > 0) return `${rule}, but request is ${request}`
  return undefined
}

/** Checks requests only, because claims have no limits. */
const maximumRequest: Rule = (type, name, enforced, { requests }) => {
  const request = requests[name]
  const rule = `maximum ${name} usage per ${type} is ${enforced}`
  if (request === undefined) return `${rule}.  No request is specified`
  return compareQuantity(request, enforced) > 0 ? `${rule}, but request is ${request}` : undefined
}

const maximumRatio: Rule = (type, name, enforced, { requests, limits }) => {
  const [request, limit] = [requests[name], limits[name]]
  const rule = `${name} max limit to request ratio per ${type} is ${enforced}`
  if (request === undefined || isZeroQuantity(request)) return `${rule}, but no request is specified or request is 0`
  if (limit === undefined || isZeroQuantity(limit)) return `${rule}, but no limit is specified or limit is 0`
  const ratio = quantityToNumber(limit) / quantityToNumber(request)
  return ratio > quantityToNumber(enforced) ? `${rule}, but provided ratio is ${ratio.toFixed(6)}` : undefined
}

function check(item: LimitRangeItem, asked: Asked, rules: readonly [ResourceList | undefined, Rule][]): string[] {
  return rules.flatMap(([enforced = {}, rule]) =>
    Object.keys(enforced)
      .sort()
      .flatMap((name) => rule(item.type, name, enforced[name]!, asked) ?? []),
  )
}

const checkPart = (item: LimitRangeItem, asked: Asked) =>
  check(item, asked, [
    [item.min, minimum],
    [item.max, maximum],
    [item.maxLimitRequestRatio, maximumRatio],
  ])

const askedBy = ({ resources }: Container): Asked => ({
  requests: resources?.requests ?? {},
  limits: resources?.limits ?? {},
})

/** The violations of a pod against one item of a limit range. */
export function judgePod(item: LimitRangeItem, pod: Pod): string[] {
  switch (item.type) {
    case 'Container':
      return [...(pod.spec.containers ?? []), ...(pod.spec.initContainers ?? [])].flatMap((container) =>
        checkPart(item, askedBy(container)),
      )
    case 'Pod':
      return checkPart(item, { requests: specRequests(pod), limits: specLimits(pod) })
    default:
      return []
  }
}

/** The violations of a claim against one item of a limit range. */
export function judgeClaim(item: LimitRangeItem, { spec }: PersistentVolumeClaim): string[] {
  if (item.type !== 'PersistentVolumeClaim') return []
  return check(item, { requests: spec.resources?.requests ?? {}, limits: {} }, [
    [item.min, minimum],
    [item.max, maximumRequest],
  ])
}
