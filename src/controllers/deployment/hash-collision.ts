import { ApiError } from '../../api/errors.ts'

/** The name that a template's hash leads to is that of another ReplicaSet. Nobody's fault, and mended by another hash: a conflict, to be tried again quietly. */
export class HashCollision extends ApiError {
  constructor(name: string) {
    super(409, 'Conflict', `the name ${name} belongs to another ReplicaSet`)
  }
}
