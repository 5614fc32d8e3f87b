import type { PersistentVolumeClaim } from '../generated/types.ts'
import { storageClassOf } from '../kinds/storage-class-name.ts'
import { compareQuantity, quantityIsInteger, quantityValue } from '../quantity.ts'
import { type QuotaEvaluator, countName, selectsValue } from './evaluator.ts'

const claims = 'persistentvolumeclaims'
const storage = 'requests.storage'
const claimCount = countName('', claims)
/** `gold.storageclass.storage.k8s.io/requests.storage` */
const ofClass = '.storageclass.storage.k8s.io/'

const wholeBytes = (amount: string): string => (quantityIsInteger(amount) ? amount : quantityValue(amount).toString())

/** A claim that is made smaller again counts with what it got meanwhile. */
function storageOf({ spec, status }: PersistentVolumeClaim): string | undefined {
  const requested = spec.resources?.requests?.['storage']
  if (requested === undefined) return undefined
  const allocated = status?.allocatedResources?.['storage']
  return wholeBytes(allocated !== undefined && compareQuantity(allocated, requested) > 0 ? allocated : requested)
}

/** The attribute classes that a claim has or is getting. */
function attributeClasses({ spec, status }: PersistentVolumeClaim): string[] {
  const named = [spec.volumeAttributesClassName, status?.currentVolumeAttributesClassName, status?.modifyVolumeStatus?.targetVolumeAttributesClassName]
  return [...new Set(named.filter((name) => name !== undefined && name !== ''))] as string[]
}

const hasOther = (a: PersistentVolumeClaim, b: PersistentVolumeClaim): boolean =>
  storageOf(a) !== storageOf(b) || attributeClasses(a).sort().join() !== attributeClasses(b).sort().join()

/** Claims: their number and the storage they ask for, of all classes and of each. */
export const claimEvaluator: QuotaEvaluator<PersistentVolumeClaim> = {
  uses: (name) => name === claimCount || name === claims || name === storage || name.endsWith(ofClass + claims) || name.endsWith(ofClass + storage),
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
  concerns: ({ subresource, object, old }) => subresource === '' || (subresource === 'status' && old !== undefined && hasOther(object, old)),
}
