import type { PersistentVolumeClaim } from '../generated/types.ts'
import { storageClassOf } from '../kinds/volumes/storage-classes.ts'
import { compareQuantity, quantityIsInteger, quantityValue } from '../numbers/quantity.ts'
import { type QuotaEvaluator, countName, selectsValue } from './evaluator.ts'

const claims = 'persistentvolumeclaims'
const storage = 'requests.storage'
const claimCount = countName('', claims)
/** `gold.storageclass.storage.k8s.io/requests.storage` */
const ofClass = '.storageclass.storage.k8s.io/'

const wholeBytes = (amount: string): string => (quantityIsInteger(amount) ? amount : quantityValue(amount).toString())

/** A claim that is shrunk after a failed expansion counts with its allocated size. */
function storageOf({ spec, status }: PersistentVolumeClaim): string | undefined {
  const requested = spec.resources?.requests?.['storage']
  if (requested === undefined) return undefined
  const allocated = status?.allocatedResources?.['storage']
  return wholeBytes(allocated !== undefined && compareQuantity(allocated, requested) > 0 ? allocated : requested)
}

/** The current and target volume attributes classes of a claim. */
function attributeClasses({ spec, status }: PersistentVolumeClaim): string[] {
  const named = [
    spec.volumeAttributesClassName,
    status?.currentVolumeAttributesClassName,
    status?.modifyVolumeStatus?.targetVolumeAttributesClassName,
  ]
  return [...new Set(named.filter((name) => name !== undefined && name !== ''))] as string[]
}

const hasOther = (a: PersistentVolumeClaim, b: PersistentVolumeClaim): boolean =>
  storageOf(a) !== storageOf(b) || attributeClasses(a).sort().join() !== attributeClasses(b).sort().join()

/** The quota of claims: their number and requested storage, in total and by class. */
export const claimEvaluator: QuotaEvaluator<PersistentVolumeClaim> = {
  uses: (name) =>
    name === claimCount ||
    name === claims ||
    name === storage ||
    name.endsWith(ofClass + claims) ||
    name.endsWith(ofClass + storage),
  usage(claim) {
    const usage = { [claimCount]: '1', [claims]: '1' }
    const className = storageClassOf(claim)
    const amount = storageOf(claim)
    if (className) usage[className + ofClass + claims] = '1'
    if (amount === undefined) return usage
    usage[storage] = amount
    if (className) usage[className + ofClass + storage] = amount
    return usage
  },
  matchesScope(scope, claim) {
    if (scope.scopeName !== 'VolumeAttributesClass') return false
    const classes = attributeClasses(claim)
    return classes.length ? classes.some((name) => selectsValue(scope, name)) : selectsValue(scope, undefined)
  },
  mayDiffer: hasOther,
  concerns: ({ subresource, object, old }) =>
    subresource === '' || (subresource === 'status' && old !== undefined && hasOther(object, old)),
}
