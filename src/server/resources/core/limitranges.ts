import { kindNames } from '../../../api/kind-names.ts'
import type { LimitRange, LimitRangeItem } from '../../../api/generated/types.ts'
import {
  type ResourceList,
  isOvercommitAllowed,
  roundResourcesUpToMilli,
} from '../../../api/kinds/quantities/resource-names.ts'
import { checkContainerResourceName, checkResourceName } from '../../../api/kinds/containers/resource-requirements.ts'
import { compareQuantity, quantityMilli, quantityToNumber } from '../../../api/numbers/quantity.ts'
import { type FieldError, duplicate, forbidden, invalid, required } from '../../../api/validation/field-error.ts'
import { isQualifiedName, subdomainName } from '../../../api/validation/names.ts'
import { Path } from '../../../api/validation/path.ts'
import { defineResource } from '../../registry/resource.ts'

const limitsPath = Path.of('spec', 'limits')
const standardTypes = ['Container', 'PersistentVolumeClaim', 'Pod']
const amountFields = ['max', 'min', 'default', 'defaultRequest', 'maxLimitRequestRatio'] as const

/** Applies defaults: the limit from max, the request from the limit or else from min. */
function defaultContainerItem(item: LimitRangeItem): void {
  const limits: ResourceList = { ...item.max, ...item.default }
  const requests: ResourceList = { ...item.min, ...limits, ...item.defaultRequest }
  if (Object.keys(limits).length) item.default = limits
  if (Object.keys(requests).length) item.defaultRequest = requests
}

function validateType(type: string, path: Path): FieldError[] {
  const errors = isQualifiedName(type).map((problem) => invalid(path, type, problem))
  if (errors.length || type.includes('/') || standardTypes.includes(type)) return errors
  return [invalid(path, type, 'must be a standard limit type or fully qualified')]
}

function validateNames(
  item: LimitRangeItem,
  field: (typeof amountFields)[number],
  path: Path,
  errors: FieldError[],
): void {
  const check = item.type === 'Pod' || item.type === 'Container' ? checkContainerResourceName : checkResourceName
  for (const name of Object.keys(item[field] ?? {}).sort()) check(name, () => path.child(field).key(name), errors)
}

function validateRatio(item: LimitRangeItem, name: string, path: Path): FieldError[] {
  const ratio = item.maxLimitRequestRatio?.[name]
  if (ratio === undefined) return []
  const errors: FieldError[] = []
  if (compareQuantity(ratio, '1') < 0) errors.push(invalid(path, ratio, `ratio ${ratio} is less than 1`))
  const [min, max] = [item.min?.[name], item.max?.[name]]
  if (min === undefined || max === undefined) return errors
  const limit = Number(quantityMilli(max)) / Number(quantityMilli(min))
  if (quantityToNumber(ratio) > limit)
    errors.push(invalid(path, ratio, `ratio ${ratio} is greater than max/min = ${limit.toFixed(6)}`))
  return errors
}

/** Validates that the amounts of one resource are ordered: min, default request, default limit, max. */
function validateOrder(item: LimitRangeItem, name: string, path: Path): FieldError[] {
  const min = item.min?.[name]
  const max = item.max?.[name]
  const hasDefaults = item.type !== 'Pod'
  const limit = hasDefaults ? item.default?.[name] : undefined
  const request = hasDefaults ? item.defaultRequest?.[name] : undefined
  const at = (field: (typeof amountFields)[number]) => path.child(field).key(name)
  const atRequest = at('defaultRequest')
  const errors: FieldError[] = []
  const isGreater = (a: string | undefined, b: string | undefined) =>
    a !== undefined && b !== undefined && compareQuantity(a, b) > 0
  if (isGreater(min, max)) errors.push(invalid(at('min'), min, `min value ${min} is greater than max value ${max}`))
  if (isGreater(min, request))
    errors.push(invalid(atRequest, request, `min value ${min} is greater than default request value ${request}`))
  if (isGreater(request, max))
    errors.push(invalid(atRequest, request, `default request value ${request} is greater than max value ${max}`))
  if (isGreater(request, limit)) {
    errors.push(
      invalid(atRequest, request, `default request value ${request} is greater than default limit value ${limit}`),
    )
  }
  if (isGreater(min, limit))
    errors.push(invalid(at('default'), min, `min value ${min} is greater than default value ${limit}`))
  if (isGreater(limit, max))
    errors.push(invalid(at('default'), max, `default value ${limit} is greater than max value ${max}`))
  errors.push(...validateRatio(item, name, at('maxLimitRequestRatio')))
  if (
    !isOvercommitAllowed(name) &&
    limit !== undefined &&
    request !== undefined &&
    compareQuantity(limit, request) !== 0
  ) {
    errors.push(
      invalid(atRequest, request, `default value ${limit} must equal to defaultRequest value ${request} in ${name}`),
    )
  }
  return errors
}

function validateItem(item: LimitRangeItem, path: Path): FieldError[] {
  const errors: FieldError[] = []
  validateNames(item, 'max', path, errors)
  validateNames(item, 'min', path, errors)
  for (const field of ['default', 'defaultRequest'] as const) {
    if (item.type !== 'Pod') validateNames(item, field, path, errors)
    else if (Object.keys(item[field] ?? {}).length)
      errors.push(forbidden(path.child(field), "may not be specified when `type` is 'Pod'"))
  }
  if (
    item.type === 'PersistentVolumeClaim' &&
    item.min?.['storage'] === undefined &&
    item.max?.['storage'] === undefined
  ) {
    errors.push(
      required(path.child('limits'), 'either minimum or maximum storage value is required, but neither was provided'),
    )
  }
  validateNames(item, 'maxLimitRequestRatio', path, errors)
  const names = new Set(amountFields.flatMap((field) => Object.keys(item[field] ?? {})))
  for (const name of [...names].sort()) errors.push(...validateOrder(item, name, path))
  return errors
}

function validate({ spec }: LimitRange): FieldError[] {
  const types = new Set<string>()
  return (spec.limits ?? []).flatMap((item, i) => {
    const path = limitsPath.index(i)
    const errors = validateType(item.type, path.child('type'))
    if (types.has(item.type)) errors.push(duplicate(path.child('type'), item.type))
    types.add(item.type)
    return [...errors, ...validateItem(item, path)]
  })
}

/** core/v1 LimitRanges. */
export const limitranges = defineResource<LimitRange>({
  ...kindNames.limitranges,
  nameRule: subdomainName,
  allowCreateOnUpdate: true,
  defaults({ spec }) {
    for (const item of spec.limits ?? []) {
      if (item.type === 'Container') defaultContainerItem(item)
      for (const field of amountFields) roundResourcesUpToMilli(item[field])
    }
  },
  validate,
  validateUpdate: validate,
})
