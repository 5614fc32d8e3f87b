import { describeField } from '../../api/schema/descriptions.ts'
import type { KubeObject } from '../../api/object.ts'
import { ageOf } from '../../api/printing/duration.ts'
import type { Column } from '../registry/resource.ts'

/** The first column of every table. */
export const nameColumn = <T extends KubeObject>(): Column<T> => ({
  name: 'Name',
  type: 'string',
  format: 'name',
  description: () => describeField('ObjectMeta', 'name'),
  cell: (obj) => obj.metadata.name ?? '',
})

/** The age of the object. */
export const ageColumn = <T extends KubeObject>(): Column<T> => ({
  name: 'Age',
  type: 'string',
  description: () => describeField('ObjectMeta', 'creationTimestamp'),
  cell: (obj, now) => ageOf(obj.metadata.creationTimestamp, now),
})
