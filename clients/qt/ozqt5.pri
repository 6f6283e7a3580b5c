# Compiles the client into a program: include(.../clients/qt/ozqt5.pri)

QT += core gui network
CONFIG += c++11
INCLUDEPATH += $$PWD/src
win32: LIBS += -lws2_32

HEADERS += \
    $$PWD/src/completion.h \
    $$PWD/src/connection.h \
    $$PWD/src/decoder.h \
    $$PWD/src/encoder.h \
    $$PWD/src/oclient1.h \
    $$PWD/src/oclient1_p.h \
    $$PWD/src/oz_protocol.h \
    $$PWD/src/oz_types.h

SOURCES += \
    $$PWD/src/completion.cpp \
    $$PWD/src/connection.cpp \
    $$PWD/src/decoder.cpp \
    $$PWD/src/encoder.cpp \
    $$PWD/src/oclient1.cpp \
    $$PWD/src/oclient1_p.cpp
