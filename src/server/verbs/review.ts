/** create on what is not stored: a client asks what it may do, or who it is. */
import { type Review, selfSubjectAccessReview, selfSubjectReview, selfSubjectRulesReview } from '../auth/reviews.ts';
import { decodeBody } from '../body/decode.ts';
import type { Answer, Call } from '../call.ts';
import { failure, notAcceptable } from '../status.ts';

const REVIEWS: Readonly<Record<string, (identity: Call['identity'], body: Record<string, unknown>) => Review>> = {
  SelfSubjectAccessReview: selfSubjectAccessReview,
  SelfSubjectRulesReview: selfSubjectRulesReview,
  SelfSubjectReview: selfSubjectReview,
};

export async function createReview(call: Call): Promise<Answer> {
  const { kind } = call.route.resource;
  const review = REVIEWS[kind];
  if (!review) throw failure(405, 'the server does not allow this method on the requested resource', { details: {} });
  // A review is no table: clients that would only take one are told so.
  if (call.shape.as !== 'object') throw notAcceptable();
  const { value } = decodeBody(call.headers['content-type'], await call.body(), { kind });
  return { status: 201, body: JSON.stringify(review(call.identity, value)) };
}
