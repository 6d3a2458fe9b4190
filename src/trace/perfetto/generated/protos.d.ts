// Generated from schemas/perfetto by scripts/generate-protos.mjs. Do not edit.

import * as $protobuf from "protobufjs";
import { Long } from "protobufjs";

export namespace perfetto {

    namespace protos {

        interface ITrace extends perfetto.protos.Trace.$Properties {
        }

        class Trace {
            constructor(properties?: perfetto.protos.Trace.$Properties);
            $unknowns?: Uint8Array[];
            packet: perfetto.protos.TracePacket.$Properties[];
            static encode(message: perfetto.protos.Trace.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;
            static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): perfetto.protos.Trace & perfetto.protos.Trace.$Shape;
        }

        namespace Trace {
            interface $Properties {
                packet?: (perfetto.protos.TracePacket.$Properties[]|null);
                $unknowns?: Uint8Array[];
            }
            type $Shape = {
              packet?: perfetto.protos.TracePacket.$Shape[]|null;
              $unknowns?: Uint8Array[];
            };
        }

        interface ITracePacket extends perfetto.protos.TracePacket.$Properties {
        }

        class TracePacket {
            constructor(properties?: perfetto.protos.TracePacket.$Properties);
            $unknowns?: Uint8Array[];
            timestamp: Long;
            timestampClockId: number;
            trustedPacketSequenceId?: (number|null);
            sequenceFlags: number;
            internedData?: (perfetto.protos.InternedData.$Properties|null);
            tracePacketDefaults?: (perfetto.protos.TracePacketDefaults.$Properties|null);
            firstPacketOnSequence: boolean;
            previousPacketDropped: number;
            clockSnapshot?: (perfetto.protos.ClockSnapshot.$Properties|null);
            trackEvent?: (perfetto.protos.TrackEvent.$Properties|null);
            trackDescriptor?: (perfetto.protos.TrackDescriptor.$Properties|null);
            traceUuid?: (perfetto.protos.TraceUuid.$Properties|null);
            traceAttributes?: (perfetto.protos.TraceAttributes.$Properties|null);
            optionalTrustedPacketSequenceId?: "trustedPacketSequenceId";
            data?: ("clockSnapshot"|"trackEvent"|"trackDescriptor"|"traceUuid"|"traceAttributes");
            static encode(message: perfetto.protos.TracePacket.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;
            static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): perfetto.protos.TracePacket & perfetto.protos.TracePacket.$Shape;
        }

        namespace TracePacket {
            interface $Properties {
                timestamp?: (Long|null);
                timestampClockId?: (number|null);
                trustedPacketSequenceId?: (number|null);
                sequenceFlags?: (number|null);
                internedData?: (perfetto.protos.InternedData.$Properties|null);
                tracePacketDefaults?: (perfetto.protos.TracePacketDefaults.$Properties|null);
                firstPacketOnSequence?: (boolean|null);
                previousPacketDropped?: (number|null);
                clockSnapshot?: (perfetto.protos.ClockSnapshot.$Properties|null);
                trackEvent?: (perfetto.protos.TrackEvent.$Properties|null);
                trackDescriptor?: (perfetto.protos.TrackDescriptor.$Properties|null);
                traceUuid?: (perfetto.protos.TraceUuid.$Properties|null);
                traceAttributes?: (perfetto.protos.TraceAttributes.$Properties|null);
                optionalTrustedPacketSequenceId?: "trustedPacketSequenceId";
                data?: ("clockSnapshot"|"trackEvent"|"trackDescriptor"|"traceUuid"|"traceAttributes");
                $unknowns?: Uint8Array[];
            }
            type $Shape = {
              timestamp?: Long|null;
              timestampClockId?: number|null;
              trustedPacketSequenceId?: number|null;
              sequenceFlags?: number|null;
              internedData?: perfetto.protos.InternedData.$Shape|null;
              tracePacketDefaults?: perfetto.protos.TracePacketDefaults.$Shape|null;
              firstPacketOnSequence?: boolean|null;
              previousPacketDropped?: number|null;
              clockSnapshot?: perfetto.protos.ClockSnapshot.$Shape|null;
              trackEvent?: perfetto.protos.TrackEvent.$Shape|null;
              trackDescriptor?: perfetto.protos.TrackDescriptor.$Shape|null;
              traceUuid?: perfetto.protos.TraceUuid.$Shape|null;
              traceAttributes?: perfetto.protos.TraceAttributes.$Shape|null;
              $unknowns?: Uint8Array[];
            } & (
              ({ optionalTrustedPacketSequenceId?: undefined; trustedPacketSequenceId?: null }|{ optionalTrustedPacketSequenceId?: "trustedPacketSequenceId"; trustedPacketSequenceId: number })
            ) & (
              ({ data?: undefined; clockSnapshot?: null; trackEvent?: null; trackDescriptor?: null; traceUuid?: null; traceAttributes?: null }|{ data?: "clockSnapshot"; clockSnapshot: perfetto.protos.ClockSnapshot.$Shape; trackEvent?: null; trackDescriptor?: null; traceUuid?: null; traceAttributes?: null }|{ data?: "trackEvent"; clockSnapshot?: null; trackEvent: perfetto.protos.TrackEvent.$Shape; trackDescriptor?: null; traceUuid?: null; traceAttributes?: null }|{ data?: "trackDescriptor"; clockSnapshot?: null; trackEvent?: null; trackDescriptor: perfetto.protos.TrackDescriptor.$Shape; traceUuid?: null; traceAttributes?: null }|{ data?: "traceUuid"; clockSnapshot?: null; trackEvent?: null; trackDescriptor?: null; traceUuid: perfetto.protos.TraceUuid.$Shape; traceAttributes?: null }|{ data?: "traceAttributes"; clockSnapshot?: null; trackEvent?: null; trackDescriptor?: null; traceUuid?: null; traceAttributes: perfetto.protos.TraceAttributes.$Shape })
            );

            enum SequenceFlags {
                SEQ_UNSPECIFIED = 0,
                SEQ_INCREMENTAL_STATE_CLEARED = 1,
                SEQ_NEEDS_INCREMENTAL_STATE = 2
            }
        }

        interface ITracePacketDefaults extends perfetto.protos.TracePacketDefaults.$Properties {
        }

        class TracePacketDefaults {
            constructor(properties?: perfetto.protos.TracePacketDefaults.$Properties);
            $unknowns?: Uint8Array[];
            timestampClockId: number;
            trackEventDefaults?: (perfetto.protos.TrackEventDefaults.$Properties|null);
            static encode(message: perfetto.protos.TracePacketDefaults.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;
            static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): perfetto.protos.TracePacketDefaults & perfetto.protos.TracePacketDefaults.$Shape;
        }

        namespace TracePacketDefaults {
            interface $Properties {
                timestampClockId?: (number|null);
                trackEventDefaults?: (perfetto.protos.TrackEventDefaults.$Properties|null);
                $unknowns?: Uint8Array[];
            }
            type $Shape = perfetto.protos.TracePacketDefaults.$Properties;
        }

        interface ITraceUuid extends perfetto.protos.TraceUuid.$Properties {
        }

        class TraceUuid {
            constructor(properties?: perfetto.protos.TraceUuid.$Properties);
            $unknowns?: Uint8Array[];
            msb: Long;
            lsb: Long;
            static encode(message: perfetto.protos.TraceUuid.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;
            static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): perfetto.protos.TraceUuid & perfetto.protos.TraceUuid.$Shape;
        }

        namespace TraceUuid {
            interface $Properties {
                msb?: (Long|null);
                lsb?: (Long|null);
                $unknowns?: Uint8Array[];
            }
            type $Shape = perfetto.protos.TraceUuid.$Properties;
        }

        enum BuiltinClock {
            BUILTIN_CLOCK_UNKNOWN = 0,
            BUILTIN_CLOCK_REALTIME = 1,
            BUILTIN_CLOCK_REALTIME_COARSE = 2,
            BUILTIN_CLOCK_MONOTONIC = 3,
            BUILTIN_CLOCK_MONOTONIC_COARSE = 4,
            BUILTIN_CLOCK_MONOTONIC_RAW = 5,
            BUILTIN_CLOCK_BOOTTIME = 6
        }

        interface IClockSnapshot extends perfetto.protos.ClockSnapshot.$Properties {
        }

        class ClockSnapshot {
            constructor(properties?: perfetto.protos.ClockSnapshot.$Properties);
            $unknowns?: Uint8Array[];
            clocks: perfetto.protos.ClockSnapshot.Clock.$Properties[];
            primaryTraceClock: perfetto.protos.BuiltinClock;
            static encode(message: perfetto.protos.ClockSnapshot.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;
            static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): perfetto.protos.ClockSnapshot & perfetto.protos.ClockSnapshot.$Shape;
        }

        namespace ClockSnapshot {
            interface $Properties {
                clocks?: (perfetto.protos.ClockSnapshot.Clock.$Properties[]|null);
                primaryTraceClock?: (perfetto.protos.BuiltinClock|null);
                $unknowns?: Uint8Array[];
            }
            type $Shape = perfetto.protos.ClockSnapshot.$Properties;

            interface IClock extends perfetto.protos.ClockSnapshot.Clock.$Properties {
            }

            class Clock {
                constructor(properties?: perfetto.protos.ClockSnapshot.Clock.$Properties);
                $unknowns?: Uint8Array[];
                clockId: number;
                timestamp: Long;
                isIncremental: boolean;
                unitMultiplierNs: Long;
                static encode(message: perfetto.protos.ClockSnapshot.Clock.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;
                static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): perfetto.protos.ClockSnapshot.Clock & perfetto.protos.ClockSnapshot.Clock.$Shape;
            }

            namespace Clock {
                interface $Properties {
                    clockId?: (number|null);
                    timestamp?: (Long|null);
                    isIncremental?: (boolean|null);
                    unitMultiplierNs?: (Long|null);
                    $unknowns?: Uint8Array[];
                }
                type $Shape = perfetto.protos.ClockSnapshot.Clock.$Properties;
            }
        }

        interface IInternedData extends perfetto.protos.InternedData.$Properties {
        }

        class InternedData {
            constructor(properties?: perfetto.protos.InternedData.$Properties);
            $unknowns?: Uint8Array[];
            eventCategories: perfetto.protos.EventCategory.$Properties[];
            eventNames: perfetto.protos.EventName.$Properties[];
            debugAnnotationNames: perfetto.protos.DebugAnnotationName.$Properties[];
            debugAnnotationStringValues: perfetto.protos.InternedString.$Properties[];
            static encode(message: perfetto.protos.InternedData.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;
            static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): perfetto.protos.InternedData & perfetto.protos.InternedData.$Shape;
        }

        namespace InternedData {
            interface $Properties {
                eventCategories?: (perfetto.protos.EventCategory.$Properties[]|null);
                eventNames?: (perfetto.protos.EventName.$Properties[]|null);
                debugAnnotationNames?: (perfetto.protos.DebugAnnotationName.$Properties[]|null);
                debugAnnotationStringValues?: (perfetto.protos.InternedString.$Properties[]|null);
                $unknowns?: Uint8Array[];
            }
            type $Shape = perfetto.protos.InternedData.$Properties;
        }

        interface IEventCategory extends perfetto.protos.EventCategory.$Properties {
        }

        class EventCategory {
            constructor(properties?: perfetto.protos.EventCategory.$Properties);
            $unknowns?: Uint8Array[];
            iid: Long;
            name: string;
            static encode(message: perfetto.protos.EventCategory.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;
            static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): perfetto.protos.EventCategory & perfetto.protos.EventCategory.$Shape;
        }

        namespace EventCategory {
            interface $Properties {
                iid?: (Long|null);
                name?: (string|null);
                $unknowns?: Uint8Array[];
            }
            type $Shape = perfetto.protos.EventCategory.$Properties;
        }

        interface IEventName extends perfetto.protos.EventName.$Properties {
        }

        class EventName {
            constructor(properties?: perfetto.protos.EventName.$Properties);
            $unknowns?: Uint8Array[];
            iid: Long;
            name: string;
            static encode(message: perfetto.protos.EventName.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;
            static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): perfetto.protos.EventName & perfetto.protos.EventName.$Shape;
        }

        namespace EventName {
            interface $Properties {
                iid?: (Long|null);
                name?: (string|null);
                $unknowns?: Uint8Array[];
            }
            type $Shape = perfetto.protos.EventName.$Properties;
        }

        interface IDebugAnnotationName extends perfetto.protos.DebugAnnotationName.$Properties {
        }

        class DebugAnnotationName {
            constructor(properties?: perfetto.protos.DebugAnnotationName.$Properties);
            $unknowns?: Uint8Array[];
            iid: Long;
            name: string;
            static encode(message: perfetto.protos.DebugAnnotationName.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;
            static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): perfetto.protos.DebugAnnotationName & perfetto.protos.DebugAnnotationName.$Shape;
        }

        namespace DebugAnnotationName {
            interface $Properties {
                iid?: (Long|null);
                name?: (string|null);
                $unknowns?: Uint8Array[];
            }
            type $Shape = perfetto.protos.DebugAnnotationName.$Properties;
        }

        interface IInternedString extends perfetto.protos.InternedString.$Properties {
        }

        class InternedString {
            constructor(properties?: perfetto.protos.InternedString.$Properties);
            $unknowns?: Uint8Array[];
            iid: Long;
            str: Uint8Array;
            static encode(message: perfetto.protos.InternedString.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;
            static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): perfetto.protos.InternedString & perfetto.protos.InternedString.$Shape;
        }

        namespace InternedString {
            interface $Properties {
                iid?: (Long|null);
                str?: (Uint8Array|null);
                $unknowns?: Uint8Array[];
            }
            type $Shape = perfetto.protos.InternedString.$Properties;
        }

        interface ITraceAttributes extends perfetto.protos.TraceAttributes.$Properties {
        }

        class TraceAttributes {
            constructor(properties?: perfetto.protos.TraceAttributes.$Properties);
            $unknowns?: Uint8Array[];
            attribute: perfetto.protos.TraceAttributes.Attribute.$Properties[];
            static encode(message: perfetto.protos.TraceAttributes.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;
            static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): perfetto.protos.TraceAttributes & perfetto.protos.TraceAttributes.$Shape;
        }

        namespace TraceAttributes {
            interface $Properties {
                attribute?: (perfetto.protos.TraceAttributes.Attribute.$Properties[]|null);
                $unknowns?: Uint8Array[];
            }
            type $Shape = {
              attribute?: perfetto.protos.TraceAttributes.Attribute.$Shape[]|null;
              $unknowns?: Uint8Array[];
            };

            interface IAttribute extends perfetto.protos.TraceAttributes.Attribute.$Properties {
            }

            class Attribute {
                constructor(properties?: perfetto.protos.TraceAttributes.Attribute.$Properties);
                $unknowns?: Uint8Array[];
                key: string;
                longValue?: (Long|null);
                stringValue?: (string|null);
                value?: ("longValue"|"stringValue");
                static encode(message: perfetto.protos.TraceAttributes.Attribute.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;
                static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): perfetto.protos.TraceAttributes.Attribute & perfetto.protos.TraceAttributes.Attribute.$Shape;
            }

            namespace Attribute {
                interface $Properties {
                    key?: (string|null);
                    longValue?: (Long|null);
                    stringValue?: (string|null);
                    value?: ("longValue"|"stringValue");
                    $unknowns?: Uint8Array[];
                }
                type $Shape = {
                  key?: string|null;
                  longValue?: Long|null;
                  stringValue?: string|null;
                  $unknowns?: Uint8Array[];
                } & (
                  ({ value?: undefined; longValue?: null; stringValue?: null }|{ value?: "longValue"; longValue: Long; stringValue?: null }|{ value?: "stringValue"; longValue?: null; stringValue: string })
                );
            }
        }

        interface ITrackDescriptor extends perfetto.protos.TrackDescriptor.$Properties {
        }

        class TrackDescriptor {
            constructor(properties?: perfetto.protos.TrackDescriptor.$Properties);
            $unknowns?: Uint8Array[];
            uuid: Long;
            parentUuid: Long;
            name?: (string|null);
            staticName?: (string|null);
            description: string;
            process?: (perfetto.protos.ProcessDescriptor.$Properties|null);
            thread?: (perfetto.protos.ThreadDescriptor.$Properties|null);
            counter?: (perfetto.protos.CounterDescriptor.$Properties|null);
            state?: (perfetto.protos.StateDescriptor.$Properties|null);
            childOrdering: perfetto.protos.TrackDescriptor.ChildTracksOrdering;
            siblingOrderRank: number;
            siblingMergeBehavior: perfetto.protos.TrackDescriptor.SiblingMergeBehavior;
            processOrdering: perfetto.protos.TrackDescriptor.ProcessOrdering;
            threadOrdering: perfetto.protos.TrackDescriptor.ThreadOrdering;
            staticOrDynamicName?: ("name"|"staticName");
            static encode(message: perfetto.protos.TrackDescriptor.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;
            static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): perfetto.protos.TrackDescriptor & perfetto.protos.TrackDescriptor.$Shape;
        }

        namespace TrackDescriptor {
            interface $Properties {
                uuid?: (Long|null);
                parentUuid?: (Long|null);
                name?: (string|null);
                staticName?: (string|null);
                description?: (string|null);
                process?: (perfetto.protos.ProcessDescriptor.$Properties|null);
                thread?: (perfetto.protos.ThreadDescriptor.$Properties|null);
                counter?: (perfetto.protos.CounterDescriptor.$Properties|null);
                state?: (perfetto.protos.StateDescriptor.$Properties|null);
                childOrdering?: (perfetto.protos.TrackDescriptor.ChildTracksOrdering|null);
                siblingOrderRank?: (number|null);
                siblingMergeBehavior?: (perfetto.protos.TrackDescriptor.SiblingMergeBehavior|null);
                processOrdering?: (perfetto.protos.TrackDescriptor.ProcessOrdering|null);
                threadOrdering?: (perfetto.protos.TrackDescriptor.ThreadOrdering|null);
                staticOrDynamicName?: ("name"|"staticName");
                $unknowns?: Uint8Array[];
            }
            type $Shape = {
              uuid?: Long|null;
              parentUuid?: Long|null;
              name?: string|null;
              staticName?: string|null;
              description?: string|null;
              process?: perfetto.protos.ProcessDescriptor.$Shape|null;
              thread?: perfetto.protos.ThreadDescriptor.$Shape|null;
              counter?: perfetto.protos.CounterDescriptor.$Shape|null;
              state?: perfetto.protos.StateDescriptor.$Shape|null;
              childOrdering?: perfetto.protos.TrackDescriptor.ChildTracksOrdering|null;
              siblingOrderRank?: number|null;
              siblingMergeBehavior?: perfetto.protos.TrackDescriptor.SiblingMergeBehavior|null;
              processOrdering?: perfetto.protos.TrackDescriptor.ProcessOrdering|null;
              threadOrdering?: perfetto.protos.TrackDescriptor.ThreadOrdering|null;
              $unknowns?: Uint8Array[];
            } & (
              ({ staticOrDynamicName?: undefined; name?: null; staticName?: null }|{ staticOrDynamicName?: "name"; name: string; staticName?: null }|{ staticOrDynamicName?: "staticName"; name?: null; staticName: string })
            );

            enum ChildTracksOrdering {
                UNKNOWN = 0,
                LEXICOGRAPHIC = 1,
                CHRONOLOGICAL = 2,
                EXPLICIT = 3
            }

            enum SiblingMergeBehavior {
                SIBLING_MERGE_BEHAVIOR_UNSPECIFIED = 0,
                SIBLING_MERGE_BEHAVIOR_BY_TRACK_NAME = 1,
                SIBLING_MERGE_BEHAVIOR_NONE = 2,
                SIBLING_MERGE_BEHAVIOR_BY_SIBLING_MERGE_KEY = 3
            }

            enum ProcessOrdering {
                PROCESS_ORDERING_UNSPECIFIED = 0,
                PROCESS_ORDERING_EXPLICIT = 1
            }

            enum ThreadOrdering {
                THREAD_ORDERING_UNSPECIFIED = 0,
                THREAD_ORDERING_EXPLICIT = 1
            }
        }

        interface IProcessDescriptor extends perfetto.protos.ProcessDescriptor.$Properties {
        }

        class ProcessDescriptor {
            constructor(properties?: perfetto.protos.ProcessDescriptor.$Properties);
            $unknowns?: Uint8Array[];
            pid: number;
            cmdline: string[];
            processName: string;
            processLabels: string[];
            static encode(message: perfetto.protos.ProcessDescriptor.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;
            static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): perfetto.protos.ProcessDescriptor & perfetto.protos.ProcessDescriptor.$Shape;
        }

        namespace ProcessDescriptor {
            interface $Properties {
                pid?: (number|null);
                cmdline?: (string[]|null);
                processName?: (string|null);
                processLabels?: (string[]|null);
                $unknowns?: Uint8Array[];
            }
            type $Shape = perfetto.protos.ProcessDescriptor.$Properties;
        }

        interface IThreadDescriptor extends perfetto.protos.ThreadDescriptor.$Properties {
        }

        class ThreadDescriptor {
            constructor(properties?: perfetto.protos.ThreadDescriptor.$Properties);
            $unknowns?: Uint8Array[];
            pid: number;
            tid: Long;
            threadName: string;
            static encode(message: perfetto.protos.ThreadDescriptor.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;
            static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): perfetto.protos.ThreadDescriptor & perfetto.protos.ThreadDescriptor.$Shape;
        }

        namespace ThreadDescriptor {
            interface $Properties {
                pid?: (number|null);
                tid?: (Long|null);
                threadName?: (string|null);
                $unknowns?: Uint8Array[];
            }
            type $Shape = perfetto.protos.ThreadDescriptor.$Properties;
        }

        interface ICounterDescriptor extends perfetto.protos.CounterDescriptor.$Properties {
        }

        class CounterDescriptor {
            constructor(properties?: perfetto.protos.CounterDescriptor.$Properties);
            $unknowns?: Uint8Array[];
            unit: perfetto.protos.CounterDescriptor.Unit;
            unitMultiplier: Long;
            isIncremental: boolean;
            unitName: string;
            static encode(message: perfetto.protos.CounterDescriptor.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;
            static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): perfetto.protos.CounterDescriptor & perfetto.protos.CounterDescriptor.$Shape;
        }

        namespace CounterDescriptor {
            interface $Properties {
                unit?: (perfetto.protos.CounterDescriptor.Unit|null);
                unitMultiplier?: (Long|null);
                isIncremental?: (boolean|null);
                unitName?: (string|null);
                $unknowns?: Uint8Array[];
            }
            type $Shape = perfetto.protos.CounterDescriptor.$Properties;

            enum Unit {
                UNIT_UNSPECIFIED = 0,
                UNIT_TIME_NS = 1,
                UNIT_COUNT = 2,
                UNIT_SIZE_BYTES = 3
            }
        }

        interface IStateDescriptor extends perfetto.protos.StateDescriptor.$Properties {
        }

        class StateDescriptor {
            constructor(properties?: perfetto.protos.StateDescriptor.$Properties);
            $unknowns?: Uint8Array[];
            static encode(message: perfetto.protos.StateDescriptor.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;
            static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): perfetto.protos.StateDescriptor & perfetto.protos.StateDescriptor.$Shape;
        }

        namespace StateDescriptor {
            interface $Properties {
                $unknowns?: Uint8Array[];
            }
            type $Shape = perfetto.protos.StateDescriptor.$Properties;
        }

        interface ITrackEvent extends perfetto.protos.TrackEvent.$Properties {
        }

        class TrackEvent {
            constructor(properties?: perfetto.protos.TrackEvent.$Properties);
            $unknowns?: Uint8Array[];
            debugAnnotations: perfetto.protos.DebugAnnotation.$Properties[];
            type: perfetto.protos.TrackEvent.Type;
            nameIid?: (Long|null);
            name?: (string|null);
            categoryIids: Long[];
            categories: string[];
            trackUuid: Long;
            counterValue?: (Long|null);
            doubleCounterValue?: (number|null);
            flowIds: Long[];
            terminatingFlowIds: Long[];
            correlationId?: (Long|null);
            correlationIdStr?: (string|null);
            nameField?: ("nameIid"|"name");
            counterValueField?: ("counterValue"|"doubleCounterValue");
            correlationIdField?: ("correlationId"|"correlationIdStr");
            static encode(message: perfetto.protos.TrackEvent.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;
            static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): perfetto.protos.TrackEvent & perfetto.protos.TrackEvent.$Shape;
        }

        namespace TrackEvent {
            interface $Properties {
                debugAnnotations?: (perfetto.protos.DebugAnnotation.$Properties[]|null);
                type?: (perfetto.protos.TrackEvent.Type|null);
                nameIid?: (Long|null);
                name?: (string|null);
                categoryIids?: (Long[]|null);
                categories?: (string[]|null);
                trackUuid?: (Long|null);
                counterValue?: (Long|null);
                doubleCounterValue?: (number|null);
                flowIds?: (Long[]|null);
                terminatingFlowIds?: (Long[]|null);
                correlationId?: (Long|null);
                correlationIdStr?: (string|null);
                nameField?: ("nameIid"|"name");
                counterValueField?: ("counterValue"|"doubleCounterValue");
                correlationIdField?: ("correlationId"|"correlationIdStr");
                $unknowns?: Uint8Array[];
            }
            type $Shape = {
              debugAnnotations?: perfetto.protos.DebugAnnotation.$Shape[]|null;
              type?: perfetto.protos.TrackEvent.Type|null;
              nameIid?: Long|null;
              name?: string|null;
              categoryIids?: Long[]|null;
              categories?: string[]|null;
              trackUuid?: Long|null;
              counterValue?: Long|null;
              doubleCounterValue?: number|null;
              flowIds?: Long[]|null;
              terminatingFlowIds?: Long[]|null;
              correlationId?: Long|null;
              correlationIdStr?: string|null;
              $unknowns?: Uint8Array[];
            } & (
              ({ nameField?: undefined; nameIid?: null; name?: null }|{ nameField?: "nameIid"; nameIid: Long; name?: null }|{ nameField?: "name"; nameIid?: null; name: string })
            ) & (
              ({ counterValueField?: undefined; counterValue?: null; doubleCounterValue?: null }|{ counterValueField?: "counterValue"; counterValue: Long; doubleCounterValue?: null }|{ counterValueField?: "doubleCounterValue"; counterValue?: null; doubleCounterValue: number })
            ) & (
              ({ correlationIdField?: undefined; correlationId?: null; correlationIdStr?: null }|{ correlationIdField?: "correlationId"; correlationId: Long; correlationIdStr?: null }|{ correlationIdField?: "correlationIdStr"; correlationId?: null; correlationIdStr: string })
            );

            enum Type {
                TYPE_UNSPECIFIED = 0,
                TYPE_SLICE_BEGIN = 1,
                TYPE_SLICE_END = 2,
                TYPE_INSTANT = 3,
                TYPE_COUNTER = 4,
                TYPE_STATE = 5
            }
        }

        interface ITrackEventDefaults extends perfetto.protos.TrackEventDefaults.$Properties {
        }

        class TrackEventDefaults {
            constructor(properties?: perfetto.protos.TrackEventDefaults.$Properties);
            $unknowns?: Uint8Array[];
            trackUuid: Long;
            static encode(message: perfetto.protos.TrackEventDefaults.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;
            static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): perfetto.protos.TrackEventDefaults & perfetto.protos.TrackEventDefaults.$Shape;
        }

        namespace TrackEventDefaults {
            interface $Properties {
                trackUuid?: (Long|null);
                $unknowns?: Uint8Array[];
            }
            type $Shape = perfetto.protos.TrackEventDefaults.$Properties;
        }

        interface IDebugAnnotation extends perfetto.protos.DebugAnnotation.$Properties {
        }

        class DebugAnnotation {
            constructor(properties?: perfetto.protos.DebugAnnotation.$Properties);
            $unknowns?: Uint8Array[];
            nameIid?: (Long|null);
            name?: (string|null);
            boolValue?: (boolean|null);
            uintValue?: (Long|null);
            intValue?: (Long|null);
            doubleValue?: (number|null);
            stringValue?: (string|null);
            stringValueIid?: (Long|null);
            nameField?: ("nameIid"|"name");
            value?: ("boolValue"|"uintValue"|"intValue"|"doubleValue"|"stringValue"|"stringValueIid");
            static encode(message: perfetto.protos.DebugAnnotation.$Properties, writer?: $protobuf.Writer): $protobuf.Writer;
            static decode(reader: ($protobuf.Reader|Uint8Array), length?: number): perfetto.protos.DebugAnnotation & perfetto.protos.DebugAnnotation.$Shape;
        }

        namespace DebugAnnotation {
            interface $Properties {
                nameIid?: (Long|null);
                name?: (string|null);
                boolValue?: (boolean|null);
                uintValue?: (Long|null);
                intValue?: (Long|null);
                doubleValue?: (number|null);
                stringValue?: (string|null);
                stringValueIid?: (Long|null);
                nameField?: ("nameIid"|"name");
                value?: ("boolValue"|"uintValue"|"intValue"|"doubleValue"|"stringValue"|"stringValueIid");
                $unknowns?: Uint8Array[];
            }
            type $Shape = {
              nameIid?: Long|null;
              name?: string|null;
              boolValue?: boolean|null;
              uintValue?: Long|null;
              intValue?: Long|null;
              doubleValue?: number|null;
              stringValue?: string|null;
              stringValueIid?: Long|null;
              $unknowns?: Uint8Array[];
            } & (
              ({ nameField?: undefined; nameIid?: null; name?: null }|{ nameField?: "nameIid"; nameIid: Long; name?: null }|{ nameField?: "name"; nameIid?: null; name: string })
            ) & (
              ({ value?: undefined; boolValue?: null; uintValue?: null; intValue?: null; doubleValue?: null; stringValue?: null; stringValueIid?: null }|{ value?: "boolValue"; boolValue: boolean; uintValue?: null; intValue?: null; doubleValue?: null; stringValue?: null; stringValueIid?: null }|{ value?: "uintValue"; boolValue?: null; uintValue: Long; intValue?: null; doubleValue?: null; stringValue?: null; stringValueIid?: null }|{ value?: "intValue"; boolValue?: null; uintValue?: null; intValue: Long; doubleValue?: null; stringValue?: null; stringValueIid?: null }|{ value?: "doubleValue"; boolValue?: null; uintValue?: null; intValue?: null; doubleValue: number; stringValue?: null; stringValueIid?: null }|{ value?: "stringValue"; boolValue?: null; uintValue?: null; intValue?: null; doubleValue?: null; stringValue: string; stringValueIid?: null }|{ value?: "stringValueIid"; boolValue?: null; uintValue?: null; intValue?: null; doubleValue?: null; stringValue?: null; stringValueIid: Long })
            );
        }
    }
}
